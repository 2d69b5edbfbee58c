// SPDX-License-Identifier: Apache-2.0
// fours — loads of four lanes at once, from cells side by side or from one cell that a lane before them has loaded.
// Does all four loads as load_lane() does, or none. Part of warp.h.
#ifndef GR_ENGINES_TRACKER_VM_FOURS_H
#define GR_ENGINES_TRACKER_VM_FOURS_H

#ifdef __x86_64__
#include <immintrin.h>

#ifndef HAS_FOURS
#define HAS_FOURS                                                                                            \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
#endif
#define FOURS             __attribute__((target("avx2,bmi,bmi2")))
#define FOUR              FOURS static inline __attribute__((always_inline))
#define EACH(x)           _mm256_set1_epi64x((long long)(x))
#define NONE_HAS(v, bits) _mm256_testz_si256(v, EACH(bits))

FOUR __m256i four_at(const void *at) { return _mm256_loadu_si256(at); }

// gr_word_hash() of each, in the low halves.
FOUR __m256i four_hashes(__m256i word) {
    __m256i low = _mm256_andnot_si256(EACH(GR_WORD_SEEN | GR_WORD_STRENGTH), word);
    __m256i sum = _mm256_add_epi32(_mm256_mul_epu32(low, EACH(0x9E3779B1u)),
                                   _mm256_mul_epu32(_mm256_srli_epi64(word, 32), EACH(0x85EBCA77u)));
    return _mm256_xor_si256(sum, _mm256_srli_epi32(sum, 15));
}

// gr_word_check() of each hash.
FOUR __m256i four_checks(__m256i hash) {
    __m256i again = _mm256_mul_epu32(hash, EACH(0xC2B2AE3Du));
    return _mm256_and_si256(_mm256_srli_epi64(again, 24), EACH(0xff));
}

FOUR __m256i four_are(__m256i v, uint64_t bits, uint64_t is) {
    return _mm256_cmpeq_epi64(_mm256_and_si256(v, EACH(bits)), EACH(is));
}

FOUR uint32_t four_mask(__m256i v) { return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(v)); }

// 0 in each that is_whole().
FOUR __m256i four_torn(__m256i word, __m256i more, uint32_t launch) {
    __m256i hash = four_hashes(word), high = _mm256_xor_si256(_mm256_srli_epi64(more, 16), hash);
    __m256i differs =
        _mm256_and_si256(_mm256_xor_si256(high, EACH(launch >> GR_WORD_LAUNCH_LOW)), EACH(0x7ffff));
    return _mm256_or_si256(differs, _mm256_xor_si256(four_checks(hash), _mm256_srli_epi64(more, 56)));
}

// Four lanes, some of which take part.
typedef struct Row {
    int all;        // take part
    uint32_t lanes; // as a mask of the four
    __m256i part;   // those of the lanes
    __m256i of;     // for each of the four itself or, if it takes no part, one that does; in halves
} Row;

FOUR Row row_of(uint32_t lanes) {
    __m256i bits = _mm256_set_epi64x(8, 4, 2, 1), each = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    if (lanes == 0xf)
        return (Row){1, lanes, EACH(-1), each};
    uint32_t one = (uint32_t)__builtin_ctz(lanes);
    __m256i part = _mm256_cmpeq_epi64(_mm256_and_si256(EACH(lanes), bits), bits);
    __m256i other = EACH((uint64_t)(2 * one + 1) << 32 | 2 * one);
    return (Row){0, lanes, part, _mm256_blendv_epi8(other, each, part)};
}

// Lanes that take no part do as one that does.
FOUR __m256i row_at(const Row *r, const void *at) {
    return r->all ? four_at(at) : _mm256_permutevar8x32_epi32(four_at(at), r->of);
}

// Writes the elements of the mask. Reads the others and writes them back, which takes less time than a masked store:
// nobody else writes there.
FOUR void four_put(void *at, __m256i mask, __m256i v) {
    _mm256_storeu_si256(at, _mm256_blendv_epi8(four_at(at), v, mask));
}

// leave() in either place, by the lanes of a mask. `same` tells of none of these cells: where a load of the warp left
// nothing, no other load of the warp has a place.
FOUR void four_leave(const Sweep *s, GrCell *cell, __m256i own, __m256i in_first, __m256i in_second) {
    __m256i hash = four_hashes(own), launch = EACH(s->launch >> GR_WORD_LAUNCH_LOW);
    __m256i high = _mm256_and_si256(_mm256_xor_si256(hash, launch), EACH(0x7ffff));
    __m256i more = _mm256_or_si256(_mm256_slli_epi64(four_checks(hash), 56), _mm256_slli_epi64(high, 16));
    more = _mm256_or_si256(more, EACH(s->kept));
    if (four_mask(in_first)) {
        four_put(&cell->word[0], in_first, own);
        four_put(&cell->more[0], in_first, more);
    }
    if (four_mask(in_second)) {
        four_put(&cell->word[1], in_second, own);
        four_put(&cell->more[1], in_second, more);
    }
}

// tells() of each, as masks.
typedef struct FourTells {
    __m256i gone, load, store;
} FourTells;

FOUR FourTells four_tells(__m256i word, __m256i own) {
    __m256i differs = _mm256_xor_si256(word, own), counts = EACH(OF_COUNTS);
    __m256i since = _mm256_sub_epi64(_mm256_and_si256(own, counts), _mm256_and_si256(word, counts));
    __m256i later = _mm256_cmpgt_epi64(_mm256_slli_epi64(since, 64 - GR_WORD_SYNCS), _mm256_setzero_si256());
    __m256i same = four_are(differs, UINT32_MAX ^ GR_WORD_OF_ACCESS, 0);
    __m256i stays = _mm256_andnot_si256(_mm256_or_si256(later, four_are(word, 0xf, 0)), same);
    __m256i alike = four_are(differs, ALIKE & ~(uint64_t)GR_WORD_WRITES, 0),
            writes = four_are(word, GR_WORD_WRITES, GR_WORD_WRITES);
    __m256i other = _mm256_andnot_si256(four_are(differs, OF_THREAD, 0), alike);
    return (FourTells){
        _mm256_andnot_si256(_mm256_or_si256(alike, stays), four_are(word, GR_WORD_STRENGTH, 0)),
        _mm256_andnot_si256(writes, other), _mm256_and_si256(writes, other)};
}

// Those of `stores` that have a byte in common with this load and race by one pair, *race. All of them are by the
// load's own warp, or none is.
FOUR __m256i four_race(Sweep *s, __m256i stores, __m256i first, __m256i more, __m256i own, GrPair **race) {
    uint64_t rest[4], words[4], mine[4];
    unsigned k = (unsigned)__builtin_ctz(four_mask(stores));
    _mm256_storeu_si256((void *)rest, more);
    _mm256_storeu_si256((void *)words, first);
    _mm256_storeu_si256((void *)mine, own);
    uint64_t one = rest[k] & 0xffff;
    *race = pair_with(s, CLASS_READ_WRITE, words[k], mine[k], one);
    if (!*race)
        return _mm256_setzero_si256();
    if (!s->heard)
        hear_race(s, (uint64_t)_mm256_extract_epi64(own, 0));
    __m256i apart = four_are(_mm256_and_si256(first, own), 0xf, 0);
    __m256i here = four_are(_mm256_xor_si256(first, own), OF_WARP, 0);
    here = _mm256_cmpeq_epi64(here, EACH((words[k] ^ mine[k]) & OF_WARP ? 0 : ~UINT64_C(0)));
    stores = _mm256_and_si256(stores, _mm256_and_si256(here, four_are(more, 0xffff, one)));
    return _mm256_andnot_si256(apart, stores);
}

// What became of loads of cells side by side.
typedef struct FourDone {
    uint32_t done; // those done as load_cell() does it, as a mask of the four
    int same;      // all of them, and any lane of the warp finds there what these found, which left nothing
    int again; // all of them, and lanes of the warp that load these cells next leave nothing and race as these did
    uint32_t races; // how many of them are counted for `race`
    GrPair *race;
} FourDone;

// Each tells of loads by two other warps between the same barriers.
FOUR int four_of_others(__m256i first, __m256i second, __m256i own) {
    __m256i a = _mm256_xor_si256(first, own), b = _mm256_xor_si256(second, own),
            none = _mm256_setzero_si256();
    __m256i of_warp = EACH(OF_WARP), one = _mm256_and_si256(a, of_warp), other = _mm256_and_si256(b, of_warp);
    __m256i mine = _mm256_or_si256(_mm256_cmpeq_epi64(one, none), _mm256_cmpeq_epi64(other, none));
    mine = _mm256_or_si256(mine, _mm256_cmpeq_epi64(one, other));
    return NONE_HAS(_mm256_or_si256(a, b), ALIKE) && NONE_HAS(mine, ~UINT64_C(0));
}

// load_cell() for four cells side by side, `cell` the first one. Races are still to be counted.
FOUR FourDone four_cells(Sweep *s, GrCell *cell, __m256i own, const Row *r) {
    __m256i first = row_at(r, &cell->word[0]), second = row_at(r, &cell->word[1]);
    if (!(cell->word[0].is & GR_WORD_WRITES) && four_of_others(first, second, own)) { // most often so
        __m256i torn = four_torn(first, row_at(r, &cell->more[0]), s->launch);
        torn = _mm256_or_si256(torn, four_torn(second, row_at(r, &cell->more[1]), s->launch));
        if (NONE_HAS(torn, ~UINT64_C(0)))
            return (FourDone){r->lanes, 1, 1, 0, NULL};
    }
    FourTells a = four_tells(first, own), b = four_tells(second, own);
    __m256i warps = four_are(_mm256_xor_si256(first, second), OF_WARP, 0);
    __m256i here = four_are(_mm256_xor_si256(first, own), OF_WARP, 0);
    __m256i far = _mm256_and_si256(a.load, _mm256_andnot_si256(here, warps)); // two of one other warp
    __m256i in_second = _mm256_or_si256(b.gone, _mm256_and_si256(b.load, far));
    __m256i in_first = _mm256_and_si256(b.load, a.gone),
            none = _mm256_andnot_si256(in_second, _mm256_andnot_si256(a.gone, b.load));
    __m256i ok = _mm256_and_si256(_mm256_or_si256(a.gone, _mm256_or_si256(a.load, a.store)),
                                  _mm256_or_si256(b.gone, b.load));
    __m256i ask = _mm256_and_si256(ok, _mm256_or_si256(none, a.store)),
            stores = _mm256_and_si256(ok, a.store);
    __m256i again = _mm256_andnot_si256(_mm256_or_si256(here, a.gone), ok); // if `first` is whole
    GrPair *race = NULL;
    if (four_mask(_mm256_or_si256(ask, again))) {
        __m256i more = row_at(r, &cell->more[0]), torn = four_torn(first, more, s->launch);
        again = _mm256_and_si256(again, four_are(torn, ~UINT64_C(0), 0));
        torn = _mm256_or_si256(
            torn, _mm256_and_si256(none, four_torn(second, row_at(r, &cell->more[1]), s->launch)));
        ok = _mm256_andnot_si256(_mm256_andnot_si256(four_are(torn, ~UINT64_C(0), 0), ask), ok);
        stores = _mm256_and_si256(ok, stores);
        if (four_mask(stores)) {
            __m256i race_here = four_race(s, stores, first, more, own, &race);
            ok = _mm256_andnot_si256(_mm256_andnot_si256(race_here, stores), ok);
            stores = race_here;
        }
    }
    __m256i done = _mm256_and_si256(ok, r->part);
    in_first = _mm256_and_si256(in_first, done), in_second = _mm256_and_si256(in_second, done);
    if (four_mask(_mm256_or_si256(in_first, in_second)))
        four_leave(s, cell, own, in_first, in_second);
    uint32_t races = four_mask(_mm256_and_si256(stores, done));
    // If a load left nothing, the second word may tell of a lane of this warp.
    __m256i mine = _mm256_and_si256(none, four_are(_mm256_xor_si256(second, own), OF_WARP, 0));
    int alike = !races || races == r->lanes;
    alike = alike && four_mask(_mm256_andnot_si256(mine, _mm256_and_si256(again, ok))) == 0xf;
    int same = alike && !four_mask(_mm256_or_si256(in_first, in_second));
    return (FourDone){four_mask(done), same, alike, (uint32_t)__builtin_popcount(races), race};
}

// Does loads of one cell by `lanes`. Yields those that are done: all before the first that has to go the whole way.
GR_INLINE uint32_t load_run(Sweep *s, GrCell *cell, uint32_t number, uint32_t lanes) {
    const uint64_t *own = s->c->own;
    const Same *same = &s->same[number % VM_LANES];
    uint32_t rest = lanes;
    for (; rest && s->same_cell[number % VM_LANES] != number + 1; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (load_lane(s, cell, number, lane, own[lane] | s->fixed) == DONE_NOT)
            return lanes & ~rest;
    }
    for (uint32_t m = rest & same->but; m; m &= m - 1) { // which change nothing
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        Same unused;
        if (load_cell(s, cell, own[lane] | s->fixed, &unused) != DONE_NOT)
            continue;
        lanes &= (1u << lane) - 1;
        break;
    }
    if (rest & lanes && same->race)
        count_races(s, same->race, (uint32_t)__builtin_popcount(rest & lanes & ~same->but));
    return lanes;
}

// How many lanes behind the four from `of` on, at `cell`, go on in their row and find there what these found
// (FourDone.same); in fours, of `lanes`.
FOUR uint32_t row_goes_on(const Sweep *s, const uint64_t *at, uint32_t of, uint32_t lanes,
                          const GrCell *cell) {
    uint32_t n = 4, most = GR_GROUP - (uint32_t)(at[of] >> 2) % GR_GROUP;
    __m256i row = _mm256_add_epi64(four_at(&at[of]), EACH(16)), torn = _mm256_setzero_si256(), differs = torn;
    __m256i first = EACH(cell->word[0].is), second = EACH(cell->word[1].is),
            site = EACH(cell->more[0].is & 0xffff);
    for (; of + n < VM_LANES && n + 4 <= most && (lanes >> (of + n) & 0xf) == 0xf; n += 4) {
        if (!NONE_HAS(_mm256_xor_si256(four_at(&at[of + n]), row), ~UINT64_C(0)))
            break;
        __m256i a = four_at(&cell->word[0].is + n), b = four_at(&cell->word[1].is + n),
                more = four_at(&cell->more[0].is + n);
        __m256i other = _mm256_or_si256(_mm256_xor_si256(a, first), _mm256_xor_si256(b, second));
        other = _mm256_and_si256(other, EACH(~OF_LANE));
        differs = _mm256_or_si256(
            differs, _mm256_or_si256(other, _mm256_and_si256(_mm256_xor_si256(more, site), EACH(0xffff))));
        torn = _mm256_or_si256(torn, four_torn(a, more, s->launch));
        torn = _mm256_or_si256(torn, four_torn(b, four_at(&cell->more[1].is + n), s->launch));
        row = _mm256_add_epi64(row, EACH(16));
    }
    return NONE_HAS(_mm256_or_si256(torn, differs), ~UINT64_C(0)) ? n - 4 : 0;
}

FOUR int rows_are_alike(const uint64_t *at, const uint64_t *other, uint32_t n) {
    __m256i differs = _mm256_setzero_si256();
    for (uint32_t k = 0; k < n; k += 4)
        differs = _mm256_or_si256(differs, _mm256_xor_si256(four_at(&at[k]), four_at(&other[k])));
    return NONE_HAS(differs, ~UINT64_C(0));
}

// Of the four lanes from `of` on, those of `here` load cells side by side, each its own; `at` and `own` as in RuleCall.
// Yields the lanes that are done, with others of `lanes` that go on in the same row or load the same.
FOUR uint32_t load_row(Sweep *s, const uint64_t *at, const uint64_t *own, uint32_t of, uint32_t lanes,
                       uint32_t here) {
    uint32_t one = (uint32_t)__builtin_ctz(here);
    uint64_t first = at[of + one] - 4 * one;
    const Row r = row_of(here);
    __m256i row = _mm256_add_epi64(EACH(first), _mm256_set_epi64x(12, 8, 4, 0));
    if (!NONE_HAS(_mm256_and_si256(_mm256_xor_si256(four_at(&at[of]), row), r.part), ~UINT64_C(0)) ||
        first >= GR_SHARED_MOST || (first >> 2) % GR_GROUP > GR_GROUP - 4)
        return 0;
    GrCell *cell = (GrCell *)(uintptr_t)gr_cell(s->cells, (uint32_t)first);
    FourDone f = four_cells(s, cell, _mm256_or_si256(row_at(&r, &own[of]), EACH(s->fixed)), &r);
    uint32_t done = f.done << of;
    if (f.again && r.all) {
        uint32_t n = 4 + (f.same ? row_goes_on(s, at, of, lanes, cell) : 0),
                 bits = n < VM_LANES ? (1u << n) - 1 : ~0u, next = n < 8 ? 8 : n;
        done = bits << of;
        for (uint32_t k = of + next; k + n <= VM_LANES; k += next) // the row again
            done |= (lanes >> k & bits) == bits && rows_are_alike(&at[of], &at[k], n) ? bits << k : 0;
        f.races = f.races ? (uint32_t)__builtin_popcount(done) : 0;
    }
    if (f.races)
        count_races(s, f.race, f.races);
    return done;
}

// The lanes whose numbers in `of` are `is`, but for `bits`.
FOUR uint32_t lanes_with(const uint64_t *of, uint64_t is, uint64_t bits) {
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < VM_LANES; lane += 4) {
        __m256i with = _mm256_cmpeq_epi64(_mm256_or_si256(four_at(&of[lane]), EACH(bits)), EACH(is | bits));
        lanes |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(with)) << lane;
    }
    return lanes;
}

// Sets `alike`.
FOURS static void find_alike(Sweep *s) {
    const RuleCall *c = s->c;
    __m256i differ = _mm256_setzero_si256(), ats = differ;
    for (uint32_t lane = 0; lane < VM_LANES; lane += 4) {
        differ = _mm256_or_si256(differ, _mm256_xor_si256(four_at(&c->own[lane]), EACH(s->common)));
        ats = _mm256_or_si256(ats, four_at(&c->at[lane]));
    }
    s->alike = ~0u;
    if (!NONE_HAS(differ, ~OF_LANE) || !NONE_HAS(ats, ~(uint64_t)(GR_SHARED_MOST - 4)))
        s->alike = lanes_with(c->own, s->common, OF_LANE) & lanes_with(c->at, 0, GR_SHARED_MOST - 4);
}

// Does the first of `lanes` and those behind it, up to one that has to go by itself. Yields which are left. Lanes that
// load other cells may come first.
FOURS static uint32_t load_fours(Sweep *s, uint32_t lanes) {
    const uint64_t *at = s->c->at, *own = s->c->own;
    uint32_t others = lanes & ~s->alike, behind = others ? -(others & -others) : 0, left = lanes & ~behind;
    while (left) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), next = left & (left - 1), of = lane & ~3u;
        uint32_t done;
        if (next && at[__builtin_ctz(next)] == at[lane]) {
            uint32_t number = (uint32_t)at[lane] >> 2;
            GrCell *cell = (GrCell *)(uintptr_t)gr_cell(s->cells, number << 2);
            done = load_run(s, cell, number, left & lanes_with(at, at[lane], 0));
        } else {
            uint32_t here = left >> of & 0xf;
            done = here == 0xf ? load_row(s, at, own, of, left, 0xf) : load_row(s, at, own, of, left, here);
        }
        if (!done)
            break;
        left &= ~done;
    }
    return left | (lanes & behind);
}
#else
#undef HAS_FOURS
#define HAS_FOURS 0
static uint32_t load_fours(Sweep *s, uint32_t lanes) { return s->alike = lanes; }
static void find_alike(Sweep *s) { s->alike = 0; }
#endif

#endif
