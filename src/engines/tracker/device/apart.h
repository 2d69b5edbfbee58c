// SPDX-License-Identifier: Apache-2.0
// apart — accesses of two launches, or of a launch and a copy, that no stream, event or wait orders. Device code only;
// part of tracker.c.
//
// What threads do can also order two launches: a thread of one releases, and a thread of the other acquires; or the
// host or a third launch acquires in between, before this launch began. Releases and acquires are numbered over the
// device (order.h), and the host notes the last number when a launch begins and ends. Nothing has passed an access on
// to this launch if all that its block may have acquired, and all that came before its launch, has lower numbers than
// the first release that may have passed it on. Otherwise the order is uncertain, and there is no race.
#ifndef GR_ENGINES_TRACKER_DEVICE_APART_H
#define GR_ENGINES_TRACKER_DEVICE_APART_H

// An entry has 24 bits of a launch's number; remembered launches are near this one.
GR_INLINE uint32_t full_number(const Look *l, const GrEntry *e) {
    const unsigned more = 32 - GR_WORD_LAUNCH_BITS;
    return l->me.launch + (uint32_t)((int32_t)((e->launch - l->mine.launch) << more) >> more);
}

// The highest number that may have come to this thread; ~0: not known.
GR_INLINE uint32_t heard(const Look *l) {
    uint32_t acquired = block_word(l, l->me.block, WIDE_ACQUIRE, ~0u), begun = gr_load32(&l->of->begun);
    return acquired > begun ? acquired : begun;
}

static int unordered_apart(const Look *l, const GrEntry *e, GR_GLOBAL GrLaunchState *of) {
    uint32_t since = heard(l), ended = gr_load32(&of->ended), launch = (uint32_t)gr_load64(&of->number);
    if (since <= gr_load32(&of->begun)) // no release since that launch began
        return 1;
    Maker m = maker_of(launch, gr_threads_of(of), e->block, e->tid);
    uint32_t first = passed_on(e, launch, m.known ? m.state : 0);
    if (ended < first) // what comes behind it in its stream may pass it on
        first = ended + 1;
    return m.known && since < first;
}

static uint32_t judge_apart(const Look *l, const GrEntry *e, GR_GLOBAL GrLaunchState *of) {
    uint32_t mine = l->what >> GR_WHAT_STRENGTH & 7, theirs = e->strength;
    uint32_t class = l->mine.writes && e->writes ? CLASS_WRITE_WRITE : CLASS_READ_WRITE;
    if (l->what & GR_WHAT_ACQUIRES || theirs == GR_PENDING) // as in judge()
        return 0;
    if (e->seen &&
        heard(l) > gr_load32(&of->begun)) // a thread of that launch saw it, and may have released it
        return 0;
    uint32_t least = gr_load32(&of->device) == gr_load32(&l->of->device) ? GR_STRONG_GPU : GR_STRONG_SYS;
    if (is_strong(mine) && is_strong(theirs) &&
        !(class = class_of_strong(l, e, mine >= least && theirs >= least)))
        return 0;
    return unordered_apart(l, e, of) ? with_values(l, e, class) : 0;
}

static void compare_apart(const Look *l, const GrEntry *e, uint64_t at) {
    GR_GLOBAL GrLaunchState *of;
    uint32_t number = full_number(l, e);
    Stands stands = gr_stands(l->me.launch, number, &of);
    if (stands == STANDS_UNKNOWN || (stands == STANDS_APART && !gr_load32(&of->module)))
        gr_count(&((GR_GLOBAL GrTrackedHeader *)GR_CONTROL.area)->unknown, 1);
    else if (stands == STANDS_APART) {
        uint32_t class = judge_apart(l, e, of);
        if (class)
            report(l, e, class, at, of);
    }
}

// Marks a strong write of another launch that this thread has seen: it comes before what comes after this thread, so
// nobody compares it any more.
GR_INLINE void saw_apart(const Look *l, GR_GLOBAL uint64_t *at, uint64_t word) {
    uint32_t theirs = gr_word_strength(word);
    if (word & GR_WORD_WRITES && theirs > GR_STRONG_CLUSTER && theirs != GR_ASYNC &&
        l->mine.strength > GR_STRONG_CLUSTER)
        (void)gr_compare_swap64(at, word, (word & ~(uint64_t)GR_WORD_STRENGTH) | (uint64_t)GR_PENDING << 4);
}

// Compares the word at `at` with copies, fills, allocations and frees that may come at any time beside this launch.
static void meet_copies(const Look *l, uint64_t at) {
    GR_GLOBAL GrView *v = gr_view(l->me.launch);
    uint32_t n = v ? gr_load32(&v->copies) : 0;
    GR_ROLLED
    for (uint32_t k = 0; k < n; k++) {
        GR_GLOBAL GrCopyState *c = &v->copy[k];
        uint32_t what = gr_load32(&c->what), both = 0;
        if (l->what & GR_WHAT_ACQUIRES || !(l->mine.writes || what & GR_WHAT_WRITES))
            continue;
        for (uint32_t b = 0; b < 4; b++)
            both |= (uint32_t)(l->mine.bytes >> b & 1 && gr_in_box(c, at + b)) << b;
        if (!both || heard(l) > gr_load32(&c->begun))
            continue;
        uint32_t class = what >> GR_WHAT_BY == GR_BY_FREE          ? CLASS_FREED
                         : what >> GR_WHAT_BY == GR_BY_ALLOC       ? CLASS_ALLOCATED
                         : l->mine.writes && what & GR_WHAT_WRITES ? CLASS_WRITE_WRITE
                                                                   : CLASS_READ_WRITE;
        Side mine = {l->site, l->what, l->me.block, l->me.tid, 0},
             other = {gr_load32(&c->call), what, 0, 0, 0};
        gr_put_pair(class, 0, 0, at + (uint32_t)__builtin_ctz(both), (uint32_t)__builtin_popcount(both),
                    &mine, &other);
    }
}

#endif
