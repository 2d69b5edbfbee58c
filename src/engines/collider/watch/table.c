// SPDX-License-Identifier: Apache-2.0
// table — windows by where they are: chains of the windows in each line. So an access that meets no window costs a load
// for each line that it touches. What a chain holds is looked at closely, lane by lane.
#include "engines/collider/watch/watch_internal.h"

#include <stdlib.h>
#include <string.h>

void gr_wp_table_init(Watch *w) {
    memset(w->heads, 0xff, sizeof w->heads);
    memset(w->ids, 0xff, sizeof w->ids);
    w->free_windows = w->free_entries = WATCH_NONE;
}

// Keys of different places may be equal: code that finds one looks at the window.
static inline uint64_t key_of(PtxSpace space, uint64_t launch, uint64_t owner, uint64_t at) {
    uint64_t line = at >> WATCH_LINE;
    if (space == PTX_SHARED)
        line += (owner + 1) * UINT64_C(0x9E3779B97F4A7C15) ^ launch * UINT64_C(0xC2B2AE3D27D4EB4F);
    return line;
}
static inline uint32_t head_of(uint64_t key) {
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 52) % WATCH_HEADS;
}
static inline uint32_t chain_of(uint64_t id) {
    return (uint32_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> 54) % WATCH_IDS;
}

// ---- Opening and closing -----------------------------------------------------------------------------------

static bool add_entry(Watch *w, uint32_t window, uint64_t key, uint64_t lo, uint64_t hi, bool writes) {
    // The last one of this window may be of the same line, or its neighbour's.
    uint32_t e = w->windows.data[window].entries;
    if (e != WATCH_NONE && w->entries.data[e].key == key) {
        Entry *last = &w->entries.data[e];
        last->lo = lo < last->lo ? lo : last->lo;
        last->hi = hi > last->hi ? hi : last->hi;
        return true;
    }
    e = w->free_entries;
    if (e != WATCH_NONE)
        w->free_entries = w->entries.data[e].next;
    else {
        e = (uint32_t)w->entries.len;
        if (!gr_vec_push(&w->entries, (Entry){0}))
            return false;
    }
    uint32_t head = head_of(key);
    w->entries.data[e] = (Entry){.key = key,
                                 .lo = lo,
                                 .hi = hi,
                                 .window = window,
                                 .next = w->heads[writes][head],
                                 .previous = WATCH_NONE,
                                 .sibling = w->windows.data[window].entries,
                                 .writes = writes};
    if (w->heads[writes][head] != WATCH_NONE)
        w->entries.data[w->heads[writes][head]].previous = e;
    w->heads[writes][head] = e;
    w->windows.data[window].entries = e;
    return true;
}

static void free_window(Watch *w, uint32_t n) {
    Window *x = &w->windows.data[n];
    for (uint32_t e = x->entries, next; e != WATCH_NONE; e = next) {
        Entry *k = &w->entries.data[e];
        next = k->sibling;
        if (k->next != WATCH_NONE)
            w->entries.data[k->next].previous = k->previous;
        if (k->previous != WATCH_NONE)
            w->entries.data[k->previous].next = k->next;
        else
            w->heads[k->writes][head_of(k->key)] = k->next;
        k->next = w->free_entries;
        w->free_entries = e;
    }
    if (x->next != WATCH_NONE)
        w->windows.data[x->next].previous = x->previous;
    if (x->previous != WATCH_NONE)
        w->windows.data[x->previous].next = x->next;
    else
        w->ids[chain_of(x->id)] = x->next;
    x->open = false;
    x->next = w->free_windows;
    w->free_windows = n;
    w->n_open--;
    w->n_writing -= x->actor.access != PTX_ACCESS_READ;
    gr_wp_interest(w);
}

// Bytes [at, end) belong to the window.
static void add_bytes(Watch *w, uint32_t n, uint64_t at, uint64_t end) {
    const Actor *a = &w->windows.data[n].actor;
    bool writes = a->access != PTX_ACCESS_READ;
    for (uint64_t from = at, to; from < end; from = to) {
        to = (from | ((1u << WATCH_LINE) - 1)) + 1;
        to = to < end ? to : end;
        if (!add_entry(w, n, key_of(a->space, a->launch, a->owner, from), from, to, writes)) {
            w->nomem = true; // that part of it will not be found
            return;
        }
    }
}

// How far each lane of the mask is from the one before it, if that is the same for all; else UINT64_MAX.
static uint64_t stride_of(const uint64_t address[WATCH_LANES], uint32_t mask) {
    unsigned first = (unsigned)__builtin_ctz(mask), last = 31 - (unsigned)__builtin_clz(mask);
    uint64_t stride = last > first ? address[first + 1] - address[first] : 0, wrong = 0;
    if (last > first && !(mask >> (first + 1) & 1))
        return UINT64_MAX;
    for (unsigned l = 0; l < WATCH_LANES; l++)
        wrong |= mask >> l & 1 ? address[l] ^ (address[first] + (l - first) * stride) : 0;
    return wrong ? UINT64_MAX : stride;
}

Window *gr_wp_new(Watch *w) {
    uint32_t n = w->free_windows;
    if (n != WATCH_NONE)
        w->free_windows = w->windows.data[n].next;
    else {
        n = (uint32_t)w->windows.len;
        if (!gr_vec_reserve(&w->windows, w->windows.len + 1)) {
            w->nomem = true;
            return NULL;
        }
        w->windows.len++;
    }
    return &w->windows.data[n];
}

void gr_wp_open(Watch *w, uint64_t id, Window *x) {
    uint32_t n = (uint32_t)(x - w->windows.data), mask = x->actor.where.mask;
    const Actor *a = &x->actor;
    x->id = id;
    x->next = w->ids[chain_of(id)];
    x->previous = x->entries = WATCH_NONE;
    x->changed = 0;
    x->asked = 0;
    x->open = true;
    if (x->next != WATCH_NONE)
        w->windows.data[x->next].previous = n;
    w->ids[chain_of(id)] = n;
    w->n_open++;
    w->n_writing += a->access != PTX_ACCESS_READ;
    uint64_t stride = stride_of(a->address, mask);
    unsigned first = (unsigned)__builtin_ctz(mask), last = 31 - (unsigned)__builtin_clz(mask);
    if (stride == 0 || stride == a->size) // side by side, or all in one place
        add_bytes(w, n, a->address[first], a->address[last] + a->size);
    else
        for (uint32_t m = mask; m; m &= m - 1)
            add_bytes(w, n, a->address[__builtin_ctz(m)], a->address[__builtin_ctz(m)] + a->size);
    gr_wp_interest(w);
}

void gr_wp_close(Watch *w, uint64_t id) {
    for (uint32_t n = w->ids[chain_of(id)], next; n != WATCH_NONE; n = next) {
        next = w->windows.data[n].next;
        if (w->windows.data[n].id == id)
            free_window(w, n);
    }
}

void gr_wp_leave(Watch *w, uint64_t id, PtxAccess access, uint32_t lanes) {
    for (uint32_t n = w->ids[chain_of(id)], next; n != WATCH_NONE; n = next) {
        Window *x = &w->windows.data[n];
        next = x->next;
        if (x->id != id || x->actor.access != access)
            continue;
        x->actor.where.mask &= ~lanes;
        if (!x->actor.where.mask)
            free_window(w, n);
    }
}

void gr_wp_close_launch(Watch *w, uint64_t launch) {
    for (uint32_t n = 0; n < w->windows.len && w->n_open; n++)
        if (w->windows.data[n].open && w->windows.data[n].actor.where.launch == launch)
            free_window(w, n);
}

// ---- Asking ------------------------------------------------------------------------------------------------

bool gr_wp_meets(const Watch *w, PtxSpace space, uint64_t launch, uint64_t owner, uint64_t lo, uint64_t hi,
                 bool writes) {
    for (uint64_t line = lo >> WATCH_LINE; line <= (hi - 1) >> WATCH_LINE; line++) {
        uint64_t key = key_of(space, launch, owner, line << WATCH_LINE);
        uint32_t head = head_of(key);
        for (int of = 1; of >= !writes; of--) // reads meet only what writes
            for (uint32_t e = w->heads[of][head]; e != WATCH_NONE; e = w->entries.data[e].next) {
                const Entry *k = &w->entries.data[e];
                if (k->key == key && k->lo < hi && lo < k->hi)
                    return true;
            }
    }
    return false;
}

static bool same_thread(const Actor *a, const Actor *b) {
    return a->by == b->by && a->by == RACE_BY_KERNEL && a->where.launch == b->where.launch &&
           a->where.block_linear == b->where.block_linear && a->where.warp == b->where.warp;
}

// The first bytes of `at` that lanes at a and b share, of those that they use.
static bool share(uint64_t a, const Actor *x, uint64_t b, const Actor *y, uint64_t *at, uint64_t *n) {
    uint64_t from = a > b ? a : b, to = a + x->size < b + y->size ? a + x->size : b + y->size;
    if (from >= to)
        return false;
    if (x->used != WATCH_ALL || y->used != WATCH_ALL) {
#define USES(actor, base, byte) ((actor)->used == WATCH_ALL || (actor)->used >> (((byte) - (base)) % 64) & 1)
        while (from < to && !(USES(x, a, from) && USES(y, b, from)))
            from++;
        uint64_t end = from;
        while (end < to && USES(x, a, end) && USES(y, b, end))
            end++;
        to = end;
#undef USES
    }
    *at = from;
    *n = to - from;
    return from < to;
}

// Lane l of a against each lane of the window.
static void ask(Watch *w, const Actor *a, unsigned l, uint32_t n) {
    const Actor *b = &w->windows.data[n].actor;
    if (b->space != a->space || !gr_wp_may_race(a, b) ||
        (a->space == PTX_SHARED && (a->owner != b->owner || a->launch != b->launch)))
        return;
    bool one_warp = same_thread(a, b);
    if (one_warp && a->async && b->async && a->op == b->op)
        return; // parts of one operation
    for (uint32_t m = b->where.mask; m; m &= m - 1) {
        unsigned k = (unsigned)__builtin_ctz(m);
        uint64_t at, bytes;
        // A thread does nothing in its own window; an asynchronous operation of its own counts as another thread.
        if ((one_warp && k == l && !a->async && !b->async) ||
            !share(a->address[l], a, b->address[k], b, &at, &bytes))
            continue;
        gr_wp_met(w, a, l, b, k, &w->windows.data[n], at, bytes);
    }
}

static void ask_lines(Watch *w, const Actor *a, unsigned l) {
    uint64_t lo = a->address[l], hi = lo + a->size, question = ++w->questions;
    for (uint64_t line = lo >> WATCH_LINE; line <= (hi - 1) >> WATCH_LINE; line++) {
        uint64_t key = key_of(a->space, a->launch, a->owner, line << WATCH_LINE);
        for (int of = 1; of >= (a->access == PTX_ACCESS_READ); of--)
            for (uint32_t e = w->heads[of][head_of(key)]; e != WATCH_NONE; e = w->entries.data[e].next) {
                const Entry *k = &w->entries.data[e];
                Window *x = &w->windows.data[k->window];
                if (k->key != key || k->lo >= hi || lo >= k->hi || x->asked == question)
                    continue;
                x->asked = question;
                ask(w, a, l, k->window);
            }
    }
}

void gr_wp_check(Watch *w, const Actor *a) {
    if (!a->size)
        return;
    // Stores in the order in which the lanes make them, as what is there decides whether it is the same.
    for (unsigned k = 0; k < WATCH_LANES; k++) {
        unsigned l = a->event ? gr_vm_commit_lane(k, a->event->turn) : k;
        if (!(a->where.mask >> l & 1))
            continue;
        if (a->size <= WATCH_LARGE)
            ask_lines(w, a, l);
        else
            for (uint32_t n = 0; n < w->windows.len; n++)
                if (w->windows.data[n].open)
                    ask(w, a, l, n);
    }
}

static uint64_t rows(const GrBox *b) { return b->height * b->depth; }

static uint64_t row_at(const GrBox *b, uint64_t row) {
    return b->at + row / b->height * b->slice + row % b->height * b->pitch;
}

void gr_wp_check_box(Watch *w, const Actor *a, const GrBox *b) {
    Actor row = *a;
    row.where.mask = 1;
    row.size = b->width;
    row.used = WATCH_ALL;
    for (uint64_t r = 0; b->at && w->n_open && r < rows(b); r++) {
        row.address[0] = row_at(b, r);
        gr_wp_check(w, &row);
    }
}
