// SPDX-License-Identifier: Apache-2.0
// copies — copies and memsets of the API, from their beginning to their end, and what the host does itself.
//
// Submitted work that has not begun is no window: a host function or a wait for a value may still come before it, and
// order it behind what the host does now.
#include "engines/collider/watch/watch_internal.h"

// [lo, hi) meets some row of the box; the first bytes that do.
static bool meets_box(const GrBox *b, uint64_t lo, uint64_t hi, uint64_t *at, uint64_t *n) {
    for (uint64_t z = 0; b->at && b->width && b->height && z < b->depth; z++) {
        uint64_t base = b->at + z * b->slice, end = base + (b->height - 1) * b->pitch + b->width;
        if (hi <= base || lo >= end)
            continue;
        uint64_t row = lo > base && b->pitch ? (lo - base) / b->pitch : 0;
        for (; row < b->height; row++) {
            uint64_t from = base + row * b->pitch, to = from + b->width;
            if (from >= hi)
                break;
            from = from > lo ? from : lo;
            to = to < hi ? to : hi;
            if (from < to) {
                *at = from;
                *n = to - from;
                return true;
            }
        }
    }
    return false;
}

bool gr_wp_meets_copy(const Watch *w, uint64_t lo, uint64_t hi, bool writes) {
    uint64_t at, n;
    for (size_t k = 0; k < w->copies.len; k++)
        if (meets_box(&w->copies.data[k].to, lo, hi, &at, &n) ||
            (writes && meets_box(&w->copies.data[k].from, lo, hi, &at, &n)))
            return true;
    return false;
}

static Actor copy_actor(const Copy *c, PtxAccess access, const GrBox *b) {
    return (Actor){.by = c->fill ? RACE_BY_FILL : RACE_BY_COPY,
                   .access = access,
                   .space = PTX_GLOBAL,
                   .where = {.mask = 1},
                   .size = b->width,
                   .used = WATCH_ALL,
                   .address = {b->at},
                   .call = c->call};
}

static void check_copy(Watch *w, const Actor *a, unsigned l, const Copy *c, PtxAccess access) {
    const GrBox *b = access == PTX_ACCESS_READ ? &c->from : &c->to;
    uint64_t at, n;
    if (a->access == PTX_ACCESS_READ && access == PTX_ACCESS_READ)
        return;
    if (!meets_box(b, a->address[l], a->address[l] + a->size, &at, &n))
        return;
    Actor copy = copy_actor(c, access, b);
    if (a->used != WATCH_ALL)
        for (; n && !(a->used >> (at - a->address[l]) % 64 & 1); n--)
            at++;
    if (n)
        gr_wp_met(w, a, l, &copy, 0, NULL, at, n);
}

void gr_wp_check_copies(Watch *w, const Actor *a) {
    if (a->space != PTX_GLOBAL)
        return;
    for (size_t c = 0; c < w->copies.len; c++)
        for (uint32_t m = a->where.mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            check_copy(w, a, l, &w->copies.data[c], PTX_ACCESS_READ);
            check_copy(w, a, l, &w->copies.data[c], PTX_ACCESS_WRITE);
        }
}

void gr_watchpoints_submitted(Watch *w) {
    w->submitted++;
    if (w->options.pending)
        w->options.pending(w->options.user, true);
}

// What a copy does, against windows and other copies under way.
static void begins(Watch *w, const Copy *c, PtxAccess access, const GrBox *b) {
    if (!b->at || !b->width || !b->height || !b->depth)
        return;
    Actor a = copy_actor(c, access, b);
    w->moment++; // it is one access, in however many rows
    gr_wp_check_box(w, &a, b);
    for (uint64_t row = 0; w->copies.len && row < b->height * b->depth; row++) {
        a.address[0] = b->at + row / b->height * b->slice + row % b->height * b->pitch;
        gr_wp_check_copies(w, &a);
    }
}

void gr_watchpoints_copy_begins(Watch *w, uint64_t item, uint32_t call, bool fill, const GrBox *from,
                                const GrBox *to) {
    Copy c = {.item = item, .call = call, .fill = fill, .from = fill ? (GrBox){0} : *from, .to = *to};
    begins(w, &c, PTX_ACCESS_READ, &c.from);
    begins(w, &c, PTX_ACCESS_WRITE, &c.to);
    if (!gr_vec_push(&w->copies, c))
        w->nomem = true;
    gr_wp_interest(w);
}

void gr_watchpoints_ended(Watch *w, uint64_t item) {
    size_t kept = 0;
    for (size_t k = 0; k < w->copies.len; k++)
        if (w->copies.data[k].item != item)
            w->copies.data[kept++] = w->copies.data[k];
    w->copies.len = kept;
    gr_wp_interest(w);
    if (w->submitted && --w->submitted == 0 && w->options.pending)
        w->options.pending(w->options.user, false);
}

void gr_watchpoints_host_touched(Watch *w, const GrHostTouch *t) {
    if (!t->size || !w->interest[1])
        return;
    Actor a = {.by = RACE_BY_HOST,
               .access = (PtxAccess)t->access,
               .strong = t->is_atomic,
               .scope = PTX_SCOPE_SYS,
               .space = PTX_GLOBAL,
               .where = {.mask = 1},
               .size = t->size,
               .used = WATCH_ALL,
               .address = {t->address},
               .pc = t->pc};
    w->moment++;
    gr_wp_check(w, &a);
    gr_wp_check_copies(w, &a);
}
