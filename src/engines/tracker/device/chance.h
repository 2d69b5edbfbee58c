// SPDX-License-Identifier: Apache-2.0
// chance — whether a thread's acquire, after another thread's release, acquired that release. Known on the CPU device,
// where strong accesses tell (talk.h). Device code only; part of order.h.
#ifndef GR_ENGINES_TRACKER_DEVICE_CHANCE_H
#define GR_ENGINES_TRACKER_DEVICE_CHANCE_H

#ifdef GR_SEQUENTIAL
GR_INLINE uint32_t heard_by(const Look *l) { return block_word(l, l->me.block, HEARD, ~0u); }

// The number of the maker's first release since `e`, if threads of its block may know of it by nothing else; 0: not
// known.
static uint32_t only_release(const GrEntry *e, GR_GLOBAL GrThreadState *maker) {
    uint64_t last = kept_word(maker, WIDE), before = kept_word(maker, WIDE_BEFORE);
    if ((uint32_t)(kept_word(maker, COUNTS) >> 32) != e->barriers ||
        (uint32_t)kept_word(maker, BESIDE) > e->syncs || last >> 32 <= e->syncs)
        return 0;
    if (before >> 32 <= e->syncs)
        return (uint32_t)last;
    return before >> 32 == e->syncs + 1 ? (uint32_t)before : 0;
}

// The maker has released and this thread has acquired, but not from the maker: no thread that may know of the release
// has written what this thread's block has read since.
static int unheard(const Look *l, const GrEntry *e, int same_block) {
    if (!GR_CONTROL.talks)
        return 0;
    Maker m = maker(l, e->block, e->tid);
    if (same_block)
        return m.known && heard_by(l) < only_release(e, m.state);
    return heard_by(l) < passed_on(e, l->me.launch, m.known ? m.state : 0);
}

// This thread's fence.sc came after one that the maker executed behind `e`.
static int by_chance(const Look *l, const GrEntry *e) {
    Maker m = maker(l, e->block, e->tid);
    uint64_t theirs = kept_word(m.state, WIDE), mine = kept_word(l->me.state, WIDE);
    uint32_t sc = (uint32_t)(kept_word(m.state, BESIDE) >> 32),
             own = (uint32_t)(kept_word(l->me.state, BESIDE) >> 32);
    if (sc != theirs >> 32)
        theirs = kept_word(m.state, WIDE_BEFORE);
    return sc > e->syncs && sc == theirs >> 32 && own && own == mine >> 32 &&
           (uint32_t)mine > (uint32_t)theirs;
}
#else
GR_INLINE int unheard(const Look *l, const GrEntry *e, int same_block) {
    (void)l, (void)e, (void)same_block;
    return 0;
}
GR_INLINE int by_chance(const Look *l, const GrEntry *e) {
    (void)l, (void)e;
    return 0;
}
#endif

#endif
