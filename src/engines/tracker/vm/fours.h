// SPDX-License-Identifier: Apache-2.0
// fours — loads of four lanes at once, of cells side by side or of one cell that a lane before them has loaded. Either each
// of the four loads is done as load_lane() does it, or none is. Part of warp.h.
#ifndef GR_ENGINES_TRACKER_VM_FOURS_H
#define GR_ENGINES_TRACKER_VM_FOURS_H

#ifdef __x86_64__
#include <immintrin.h>

#ifndef HAS_FOURS
#define HAS_FOURS __builtin_cpu_supports("avx2")
#endif
#define FOUR              __attribute__((target("avx2"))) static inline
#define EACH(x)           _mm256_set1_epi64x((long long)(x))
#define NONE_HAS(v, bits) _mm256_testz_si256(v, EACH(bits))

FOUR __m256i four_at(const void *at) { return _mm256_loadu_si256(at); }

// Whether each of the four has one of the bits.
FOUR int all_have(__m256i v, uint64_t bits) {
    __m256i without = _mm256_cmpeq_epi64(_mm256_and_si256(v, EACH(bits)), _mm256_setzero_si256());
    return _mm256_testz_si256(without, without);
}

// gr_word_hash(), in the low halves.
FOUR __m256i four_hashes(__m256i word) {
    __m256i low = _mm256_andnot_si256(EACH(GR_WORD_SEEN | GR_WORD_STRENGTH), word);
    __m256i sum = _mm256_add_epi32(_mm256_mul_epu32(low, EACH(0x9E3779B1u)),
                                   _mm256_mul_epu32(_mm256_srli_epi64(word, 32), EACH(0x85EBCA77u)));
    return _mm256_xor_si256(sum, _mm256_srli_epi32(sum, 15));
}

// gr_word_check() of these.
FOUR __m256i four_checks(__m256i hash) {
    __m256i again = _mm256_mul_epu32(hash, EACH(0xC2B2AE3Du));
    return _mm256_and_si256(_mm256_srli_epi64(again, 24), EACH(0xff));
}

// is_whole() of each.
FOUR int four_whole(__m256i word, __m256i more, uint32_t launch) {
    __m256i hash = four_hashes(word), of_launch = EACH(launch >> GR_WORD_LAUNCH_LOW);
    __m256i differs = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(more, 16), hash), of_launch);
    __m256i other = _mm256_xor_si256(four_checks(hash), _mm256_srli_epi64(more, 56));
    return NONE_HAS(differs, 0x7ffff) && NONE_HAS(other, ~UINT64_C(0));
}

// leave(). `same` tells of none of these cells: where a load of the warp left nothing, no other load of the warp has a place.
FOUR int four_leave(const Sweep *s, GrCell *cell, unsigned k, __m256i own) {
    __m256i hash = four_hashes(own), launch = EACH(s->launch >> GR_WORD_LAUNCH_LOW);
    __m256i high = _mm256_and_si256(_mm256_xor_si256(hash, launch), EACH(0x7ffff));
    __m256i more = _mm256_or_si256(_mm256_slli_epi64(four_checks(hash), 56), _mm256_slli_epi64(high, 16));
    _mm256_storeu_si256((void *)&cell->word[k], own);
    _mm256_storeu_si256((void *)&cell->more[k], _mm256_or_si256(more, EACH(s->kept)));
    return 1;
}

// Whether each tells of a weak access of the block that is behind a barrier.
FOUR int four_behind(__m256i word, __m256i own) {
    __m256i counts = EACH(OF_COUNTS), differs = _mm256_xor_si256(word, own);
    __m256i since = _mm256_sub_epi64(_mm256_and_si256(own, counts), _mm256_and_si256(word, counts));
    __m256i later = _mm256_cmpgt_epi64(_mm256_slli_epi64(since, 64 - GR_WORD_SYNCS), _mm256_setzero_si256());
    return NONE_HAS(word, GR_WORD_STRENGTH) && NONE_HAS(differs, UINT32_MAX ^ GR_WORD_OF_ACCESS) &&
           all_have(later, ~UINT64_C(0));
}

// Whether each tells of a weak load by another thread of the block between the same barriers.
FOUR int four_loaded(__m256i word, __m256i own) {
    __m256i differs = _mm256_xor_si256(word, own);
    return NONE_HAS(differs, ALIKE) && all_have(differs, OF_THREAD);
}

// Each races with a store of another thread, and all of these by one pair.
FOUR int four_race(Sweep *s, __m256i first, __m256i more, __m256i own) {
    __m256i differs = _mm256_xor_si256(first, own);
    uint64_t one = (uint64_t)_mm256_extract_epi64(more, 0);
    if (!NONE_HAS(differs, ALIKE & ~(uint64_t)GR_WORD_WRITES) || !all_have(differs, OF_THREAD) ||
        !all_have(first, GR_WORD_WRITES) || !all_have(_mm256_and_si256(first, own), 0xf) ||
        !NONE_HAS(_mm256_xor_si256(more, EACH(one)), 0xffff))
        return 0;
    GrPair *race = pair_with(s, CLASS_READ_WRITE, one);
    if (!race)
        return 0;
    if (!s->heard)
        hear_race(s, (uint64_t)_mm256_extract_epi64(own, 0));
    count_races(s, race, 4);
    return 1;
}

// load_cell() for four cells side by side, `cell` the first one.
FOUR int four_cells(Sweep *s, GrCell *cell, __m256i own) {
    __m256i first = four_at(&cell->word[0]), second = four_at(&cell->word[1]);
    int loaded = four_loaded(first, own);
    if (!four_loaded(second, own))
        return four_behind(second, own) && (loaded || four_behind(first, own)) && four_leave(s, cell, 1, own);
    if (four_behind(first, own))
        return four_leave(s, cell, 0, own);
    __m256i warps = _mm256_xor_si256(first, second), elsewhere = _mm256_xor_si256(first, own);
    if (loaded && !NONE_HAS(elsewhere, OF_WARP) && !all_have(warps, OF_WARP))
        return NONE_HAS(warps, OF_WARP) && all_have(elsewhere, OF_WARP) && four_leave(s, cell, 1, own);
    __m256i more = four_at(&cell->more[0]);
    return four_whole(first, more, s->launch) && four_whole(second, four_at(&cell->more[1]), s->launch) &&
           (loaded || four_race(s, first, more, own));
}

// Four lanes from `lane` on load the cell that a lane before them has loaded.
GR_INLINE int four_same(Sweep *s, uint32_t number, uint32_t lane) {
    const Same *same = &s->same[number % VM_LANES];
    if (s->same_cell[number % VM_LANES] != number + 1 || same->but >> lane & 0xf)
        return 0;
    if (same->race)
        count_races(s, same->race, 4);
    return 1;
}

FOUR int four_lanes(Sweep *s, uint32_t lane) {
    const RuleCall *c = s->c;
    __m256i at = four_at(&c->at[lane]), own = four_at(&c->own[lane]), steps = _mm256_set_epi64x(12, 8, 4, 0);
    __m256i from_first = _mm256_sub_epi64(at, EACH(c->at[lane]));
    uint32_t number = ((uint32_t)c->at[lane] & (GR_SHARED_MOST - 1)) >> 2;
    if (!NONE_HAS(_mm256_xor_si256(own, EACH(s->common)), ~OF_LANE) || c->at[lane] & 3)
        return 0;
    if (NONE_HAS(from_first, ~UINT64_C(0)))
        return four_same(s, number, lane);
    if (!NONE_HAS(_mm256_xor_si256(from_first, steps), ~UINT64_C(0)) || number % GR_GROUP > GR_GROUP - 4)
        return 0;
    GrCell *cell = (GrCell *)(uintptr_t)gr_cell(s->cells, number << 2);
    return four_cells(s, cell, _mm256_or_si256(own, EACH(s->fixed)));
}

// How many of `lanes` from `lane` on are done so.
__attribute__((target("avx2"))) static uint32_t load_fours(Sweep *s, uint32_t lanes, uint32_t lane) {
    uint32_t next = lane;
    while (next < VM_LANES && (lanes >> next & 0xf) == 0xf && four_lanes(s, next))
        next += 4;
    return next - lane;
}
#else
#undef HAS_FOURS
#define HAS_FOURS 0
static uint32_t load_fours(Sweep *s, uint32_t lanes, uint32_t lane) { return 0 * (lanes + lane + s->kept); }
#endif

#endif
