// SPDX-License-Identifier: Apache-2.0
// allocated — memory that a stream or a node of a graph allocates is there for what comes after the allocation, which
// is like a write to all its bytes. Every other access, and a free, races with it.
//
// Nearly all work comes after the allocations of what it uses, and the shadow does not hear of them. Only when work
// begins that an allocation does not come before, the shadow gets it, as the oldest write there is (gr_shadow_plant).
#include "engines/exact/exact_internal.h"

#include <stdlib.h>
#include <string.h>

// The index of the first allocation that begins after the address.
static size_t place_after(const Exact *x, uint64_t at) {
    size_t low = 0, high = x->allocated.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->allocated.data[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static Allocated *find(const Exact *x, uint64_t at) {
    size_t k = place_after(x, at);
    Allocated *m = k ? &x->allocated.data[k - 1] : NULL;
    return m && at - m->at < m->size ? m : NULL;
}

bool gr_exact_allocation(const Exact *x, uint64_t address, uint64_t *at, uint64_t *size) {
    const Allocated *m = find(x, address);
    *at = m ? m->at : address;
    *size = m ? m->size : 0;
    return m != NULL;
}

static uint32_t stamp_of(Exact *x, const Allocated *m) {
    Stamp s = {.at = m->by,
               .access = PTX_ACCESS_WRITE,
               .mark = (uint8_t)(STAMP_ALLOCATED | (m->node ? STAMP_NODE : 0))};
    uint32_t stamp = gr_shadow_stamp(&x->shadow, &s, x->moment);
    if (stamp)
        gr_stamp_reaches(&x->shadow.stamps.data[stamp], m->at, m->at + m->size);
    return stamp;
}

static void plant(Exact *x, Allocated *m) {
    uint32_t stamp = m->planted ? 0 : stamp_of(x, m);
    if (!stamp)
        return;
    m->planted = true;
    x->reads_version++;
    gr_shadow_plant(&x->shadow, m->at, m->at + m->size, stamp);
}

void gr_exact_allocated(Exact *x, const View *by, const GrWork *w) {
    uint64_t at = w->to.at, size = w->to.width;
    Allocated m = {.at = at, .size = size, .node = w->node, .by = {by->block->id, 1, by->launch->index, 0}};
    size_t k = place_after(x, at);
    if (!size || !gr_vec_push(&x->allocated, m)) {
        x->nomem |= size != 0;
        return;
    }
    memmove(x->allocated.data + k + 1, x->allocated.data + k, (x->allocated.len - 1 - k) * sizeof m);
    x->allocated.data[k] = m;
    Access a = {.view = *by};
    a.stamp = stamp_of(x, &m);
    a.address[0] = at;
    if (a.stamp) // what has used it already does not come after
        gr_exact_meet_lines(x, &a, at, at + size, false);
    bool alone = true;
    for (size_t n = 0; n < x->order.active.len; n++)
        alone &= x->order.active.data[n] == by->launch;
    if (!alone)
        plant(x, &x->allocated.data[k]);
    else if (!gr_vec_push(&x->allocating, at))
        x->nomem = true;
}

// Drops the allocations that were freed since.
static void tidy(Exact *x, TurnAllocations *s) {
    size_t kept = 0;
    for (size_t k = 0; k < s->list.len; k++) {
        const Allocated *m = find(x, s->list.data[k].at);
        if (m && m->by.id == s->list.data[k].id && !m->planted)
            s->list.data[kept++] = s->list.data[k];
    }
    s->list.len = kept;
    s->tidy_at = 2 * kept + 64;
}

void gr_exact_allocation_ended(Exact *x, const Launch *l, const GrWork *w) {
    const Allocated *m = w->to.at ? find(x, w->to.at) : NULL;
    size_t left = 0;
    for (size_t k = 0; k < x->allocating.len; k++)
        if (x->allocating.data[k] != w->to.at)
            x->allocating.data[left++] = x->allocating.data[k];
    x->allocating.len = left;
    if (!m || m->planted)
        return;
    size_t k = 0;
    while (k < x->turn_allocations.len && x->turn_allocations.data[k].stream != l->stream)
        k++;
    if (k == x->turn_allocations.len &&
        !gr_vec_push(&x->turn_allocations, ((TurnAllocations){.stream = l->stream, .tidy_at = 64}))) {
        x->nomem = true;
        return;
    }
    TurnAllocations *s = &x->turn_allocations.data[k];
    if (s->list.len >= s->tidy_at)
        tidy(x, s);
    if (!gr_vec_push(&s->list, ((TurnAllocation){m->at, m->by.id, l->turn})))
        x->nomem = true;
}

void gr_exact_meet_allocations(Exact *x, const Clock *known) {
    for (size_t k = 0; k < x->allocating.len; k++) {
        Allocated *m = find(x, x->allocating.data[k]);
        if (m)
            plant(x, m);
    }
    for (size_t k = 0; k < x->turn_allocations.len; k++) {
        TurnAllocations *s = &x->turn_allocations.data[k];
        uint32_t turn = s->list.len ? gr_clock_get(known, gr_stream_key(s->stream)) : 0;
        for (; s->list.len && s->list.data[s->list.len - 1].turn > turn; s->list.len--) {
            TurnAllocation *last = &s->list.data[s->list.len - 1];
            Allocated *m = find(x, last->at);
            if (m && m->by.id == last->id)
                plant(x, m);
        }
    }
}

void gr_exact_allocation_raced(Exact *x, uint64_t address) {
    Allocated *m = find(x, address);
    if (m)
        m->raced = true;
}

// A free that races with a use, or whose memory was used too early, is not reported as another mistake.
void gr_exact_allocation_freed(Exact *x, Access *a, uint64_t at) {
    const Allocated *m = find(x, at);
    if (!m || m->at != at)
        return;
    if (!a->raced && !m->raced && !gr_order_knows(&x->order, &a->view, &m->by, 0)) {
        Entry e = {stamp_of(x, m), 1, ALL_BYTES, false};
        if (e.stamp)
            gr_exact_report(x, a, a->view.lane, at, ALL_BYTES, &e, 0, RACE_ALLOCATED);
    }
    gr_shadow_unplant(&x->shadow, at);
    size_t k = (size_t)(m - x->allocated.data);
    gr_vec_remove(&x->allocated, k);
}

void gr_exact_allocations_mark(Exact *x) {
    for (size_t k = 0; k < x->allocated.len; k++)
        gr_order_mark(&x->order, x->allocated.data[k].by.launch, x->allocated.data[k].by.id);
}

void gr_exact_allocations_forget(Exact *x) {
    x->allocated.len = 0;
    for (size_t k = 0; k < x->turn_allocations.len; k++)
        gr_vec_free(&x->turn_allocations.data[k].list);
    x->turn_allocations.len = x->allocating.len = 0;
}

void gr_exact_allocations_free(Exact *x) {
    gr_exact_allocations_forget(x);
    gr_vec_free(&x->turn_allocations);
    gr_vec_free(&x->allocating);
    gr_vec_free(&x->allocated);
}
