// SPDX-License-Identifier: Apache-2.0
// quick — the common path of a weak access: it meets nothing that it could race with, and is recorded, or is recorded already. It does what visit()
// would do (tracker.c) with few registers, and leaves everything else to it. Device code only; part of tracker.c.
//
// A kernel keeps in a register what the words of its accesses have in common: the thread, the launch and the counters (`own`). __gr_begin, __gr_own
// and __gr_order give it.
#ifndef GR_TRACKER_DEVICE_QUICK_H
#define GR_TRACKER_DEVICE_QUICK_H

#include "engines/tracker/device/order.h"

// What an access finds in one of the two words of its cell.
typedef struct Found {
    int none;     // nothing of this launch, or another block's in a place for shared memory that both use
    int thread;   // an access of the same thread
    int behind;   // an access of the same block that is behind a barrier
    int harmless; // the two are no race, and that is plain
} Found;

GR_INLINE Found find(uint64_t word, uint64_t own, int shared) {
    uint64_t x = word ^ own;
    uint32_t launch = (uint32_t)(x >> 10) & 0x3f, block = (uint32_t)(x >> 16) & 0x1ffff,
             tid = (uint32_t)(x >> 33) & 0x3ff;
    uint32_t barriers = (gr_word_barriers(own) - gr_word_barriers(word)) & 0x7ff;
    int async = gr_word_strength(word) == GR_ASYNC;
    Found f;
    f.none = !word || launch || (shared && block);
    f.thread = !block && !tid && !async;
    f.behind = !block && !async && barriers && barriers < 0x400;
    f.harmless = f.none || f.thread || f.behind ||
                 (!async && (!((word | own) & GR_WORD_WRITES) || !(word & own & 0xf)));
    return f;
}

// Not kept where this access is.
GR_INLINE int gives_way(const Found *f, uint64_t word, uint64_t own, int shared) {
    return f->none || (f->behind && (shared || own & GR_WORD_WRITES || !(word & GR_WORD_WRITES)));
}

// The thread's own access of this interval that says all that this one does.
GR_INLINE int says_all(const Found *f, uint64_t word, uint64_t own) {
    enum { OF_THREAD = ~0x3ff };
    return !f->none && !((word ^ own) & (uint64_t)(int64_t)OF_THREAD) && !gr_word_strength(word) &&
           !(own & ~word & (0xf | GR_WORD_WRITES));
}

// The place of a read; 2: none.
GR_INLINE unsigned quick_place(const Found f[2], const uint64_t word[2], uint64_t own, int shared) {
    for (unsigned k = 2; k-- > 0;)
        if (gives_way(&f[k], word[k], own, shared) ||
            (f[k].thread && !f[k].none && !(word[k] & GR_WORD_WRITES)))
            return k;
    if ((word[0] | word[1]) & GR_WORD_WRITES || gr_word_block(word[0]) != gr_word_block(word[1]))
        return 2;
    if (gr_word_block(word[0]) != gr_word_block(own))
        return 1;
    uint32_t first = gr_word_tid(word[0]) / 32, second = gr_word_tid(word[1]) / 32;
    return first == second && first != gr_word_tid(own) / 32 ? 1 : 2;
}

// What is left of an access of which word k is in place, if anything came in between: `before`, what the exchange showed; the other word was
// `other` before.
static void settle(uint32_t site, uint32_t what, uint64_t at, uint64_t value, GR_GLOBAL GrCell *cell,
                   uint64_t own, uint32_t k, uint64_t before);
// The access as visit() looks at it.
static void slow(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own);
// One of several cells.
static void wide(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own);

// Of a cell. That of shared memory is its block's own.
GR_INLINE uint64_t load(GR_GLOBAL const GrWord *w, int shared) {
    return shared ? gr_load64_of_block((GR_GLOBAL uint64_t *)&w->is)
                  : gr_load64((GR_GLOBAL uint64_t *)&w->is);
}

GR_INLINE int is_old(GR_GLOBAL const GrCell *cell, unsigned k, uint64_t word, uint32_t launch, int shared) {
    return word && gr_word_launch(word) == (launch & 0x3f) &&
           gr_word_is_old(word, load(&cell->more[k], shared), launch);
}

// Of the cell at `here` of an access at `at`. `own`: the whole word of this access. 1: the slow path has done all of it.
GR_INLINE int quick_cell(uint32_t site, uint32_t what, uint64_t at, uint64_t here, uint64_t value,
                         GR_GLOBAL GrCell *cell, uint64_t own, int shared) {
    uint32_t launch = (uint32_t)gr_grid_id();
    const uint64_t word[2] = {load(&cell->word[0], shared), load(&cell->word[1], shared)};
    if (is_old(cell, 0, word[0], launch, shared) || is_old(cell, 1, word[1], launch, shared)) {
        slow(site, what, at, value, own);
        return 1;
    }
    if (!changed(word[0], own) || word[1] == own)
        return 0;
    Found f[2] = {find(word[0], own, shared), find(word[1], own, shared)};
    if (!f[0].harmless || !f[1].harmless) {
        slow(site, what, at, value, own);
        return 1;
    }
    if (says_all(&f[0], word[0], own) || says_all(&f[1], word[1], own))
        return 0;
    unsigned k = own & GR_WORD_WRITES ? 0 : quick_place(f, word, own, shared);
    uint64_t before = word[0];
    if (k == 2)
        return 0;
    if (own & GR_WORD_WRITES)
        before = gr_exchange64(&cell->word[0].is, own);
    else if (k)
        gr_store64(&cell->word[1].is, own);
    else if (gr_compare_swap64(&cell->word[0].is, word[0], own) != word[0])
        return 0;
    if (changed(before, word[0]) || changed(load(&cell->word[1 - k], shared), word[1 - k])) {
        settle(site, what, here, value, cell, own, k, changed(before, word[0]) ? before : 0);
        return 0;
    }
    GrEntry e = {.launch = launch, .site = site, .value = kept_of(what, value)};
    gr_store64(&cell->more[k].is, gr_word_more(&e, own));
    return 0;
}

// Whether other launches run beside this one, as far as that is known, or another thread has this one's place.
GR_INLINE int is_special(uint64_t own) {
    if (!gr_launches())
        return 0;
    Me m = gr_me();
    GR_GLOBAL GrLaunchState *l = gr_launch_state(m.launch);
    return (l && gr_load32(&l->apart)) || (!gr_own_is_plain(own) && !is_kept(&m));
}

// Where the access is, if it is for the quick path: 0: not.
GR_INLINE GR_GLOBAL GrCell *quick_look(uint32_t what, uint64_t at, uint64_t own, int *shared) {
    uint32_t space = what >> GR_WHAT_SPACE & 3, room;
    *shared = space == GR_SPACE_SHARED;
    if (GR_HISTORY != 2 || gr_own_is_slow(own) || (what >> GR_WHAT_STRENGTH & 7) != GR_WEAK ||
        space == GR_SPACE_CLUSTER || is_special(own))
        return 0;
    if (space == GR_SPACE_GENERIC) {
#ifdef GR_CLUSTERS
        uint64_t in;
        if (gr_is_cluster_shared(at, &in)) // it may be another block's
            return 0;
#else
        *shared = gr_is_shared(at, &at);
#endif
    }
    if (!*shared)
        return gr_global_cell(at);
#ifdef GR_CLUSTERS
    if (gr_cluster_blocks() > 1)
        return 0;
#endif
    at &= GR_SHARED_OFFSET;
    uint64_t cells = gr_shared_cells((uint32_t)(own >> 16) & (GR_BLOCKS - 1), &room);
    return at < room ? gr_cell(cells, (uint32_t)at) : 0;
}

GR_INLINE uint64_t quick_word(uint32_t what, uint64_t own, uint32_t bytes) {
    return own | bytes | (what & GR_WHAT_WRITES ? GR_WORD_WRITES : 0) | (what & GR_WHAT_WIDE ? 1 << 7 : 0);
}

GR_INLINE void quick(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own) {
    uint32_t within = (uint32_t)at & 3, size = what & 0xff;
    int shared;
    if (within + size > 4) {
        wide(site, what, at, value, own);
        return;
    }
    uint32_t touched = (what & GR_WHAT_WRITES ? 15 : (uint32_t)value) & ((1u << size) - 1);
    GR_GLOBAL GrCell *cell = quick_look(what, at, own, &shared);
    if (!cell)
        slow(site, what, at, value, own);
    else if (touched)
        (void)quick_cell(site, what, at, at, value, cell, quick_word(what, own, touched << within), shared);
}

#endif
