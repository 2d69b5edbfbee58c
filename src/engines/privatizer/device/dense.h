// SPDX-License-Identifier: Apache-2.0
// dense — near memory of which each unit has a private copy of all of it, as in the LDetector paper: at a constant
// distance from the program's own, so that an access needs no look (control.h, GrPrivNear.units). The steps of merge.h
// read all copies of a word. For the one file that has the runtime of inserted code.
//
//     shared memory: | reserved | copy 0, where the program's own is | copy 1 | ... | base | GrPrivNear.says |
//     each of them:              | near memory | window, if there is one |
//
// Behind pass 1 the union takes the place of the base: it is what comes out of the region, if nothing races.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_DENSE_H
#define GR_ENGINES_PRIVATIZER_DEVICE_DENSE_H

#include "engines/privatizer/device/near.h"

enum { DENSE_AT_A_TIME = 4 };

// Loads the words at `at` of copies `unit` and the next ones; `none` where there is no such copy.
GR_INLINE void dense_words(const Near *n, uint32_t at, uint32_t unit, uint32_t none, uint32_t *out) {
#pragma unroll
    for (uint32_t i = 0; i < DENSE_AT_A_TIME; i++) {
        out[i] = none;
        if (unit + i < n->units)
            out[i] = shared_at(at + (unit + i) * n->stride);
    }
}

// Merges one word behind pass 1: makes the union, and what each copy begins pass 2 with. True: two units changed a
// byte. That goes to *told; if it is NULL, the word is left as it is.
GR_INLINE int dense_merge_word(const Near *n, uint32_t at, Told *told) {
    uint32_t was = shared_at(at + n->units * n->stride), all = was, changed = 0, twice = 0, last = 0;
    uint32_t v[DENSE_AT_A_TIME];
    GR_ROLLED for (uint32_t unit = 0; unit < n->units; unit += DENSE_AT_A_TIME) {
        dense_words(n, at, unit, was, v);
#pragma unroll
        for (uint32_t i = 0; i < DENSE_AT_A_TIME; i++) {
            if (v[i] == was)
                continue;
            uint32_t own = bytes_of(v[i] ^ was), again = own & changed;
            if (told && again)
                tell(told, unit + i, last, again & ~twice);
            twice |= again;
            changed |= own;
            last = unit + i;
            all = (all & ~own) | (v[i] & own);
        }
    }
    if (!changed || !told == (twice != 0))
        return twice != 0;
    put_shared(at + n->units * n->stride, all);
    GR_ROLLED for (uint32_t unit = 0; unit < n->units; unit += DENSE_AT_A_TIME) {
        dense_words(n, at, unit, was, v);
#pragma unroll
        for (uint32_t i = 0; i < DENSE_AT_A_TIME; i++)
            if (unit + i < n->units) {
                uint32_t own = bytes_of(v[i] ^ was);
                put_shared(at + (unit + i) * n->stride, (all & ~own) | (was & own));
            }
    }
    return twice != 0;
}

// Checks one word behind pass 2. True: some copy was not what it has to be; the copies are set right, and *told names
// them.
GR_INLINE int dense_check_word(const Near *n, uint32_t at, Told *told) {
    uint32_t all = shared_at(at + n->units * n->stride), differ = 0;
    uint32_t v[DENSE_AT_A_TIME];
    GR_ROLLED for (uint32_t unit = 0; unit < n->units; unit += DENSE_AT_A_TIME) {
        dense_words(n, at, unit, all, v);
#pragma unroll
        for (uint32_t i = 0; i < DENSE_AT_A_TIME; i++) {
            uint32_t other = v[i] ^ all;
            if (!other)
                continue;
            tell(told, unit + i, unit + i, bytes_of(other) & ~differ);
            put_shared(at + (unit + i) * n->stride, all);
            differ |= bytes_of(other);
        }
    }
    return differ != 0;
}

// Four words of shared memory at once.
typedef struct Four {
    uint32_t w[4];
} Four;
GR_INLINE Four four_at(uint32_t at) {
    Four f;
    __asm__ volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f.w[0]), "=r"(f.w[1]), "=r"(f.w[2]), "=r"(f.w[3])
                     : "r"(at)
                     : "memory");
    return f;
}
GR_INLINE void put_four(uint32_t at, Four f) {
    __asm__ volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(f.w[0]), "r"(f.w[1]),
                     "r"(f.w[2]), "r"(f.w[3])
                     : "memory");
}
GR_INLINE uint32_t unlike(Four one, Four other) {
    return (one.w[0] ^ other.w[0]) | (one.w[1] ^ other.w[1]) | (one.w[2] ^ other.w[2]) |
           (one.w[3] ^ other.w[3]);
}

// The units that have stored in the region so far, as bits: all other copies are alike.
GR_INLINE uint32_t dense_stored(const Near *n, uint32_t sequence) {
    uint32_t at = n->says + GR_NEAR_STORED + GR_NEAR_UNITS * (sequence & 1), bits = 0;
    Four low = four_at(at), high = four_at(at + 16);
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) // four bytes, each 0 or 1, side by side
        bits |= (low.w[i] * 0x01020408 >> 24 & 15) << 4 * i | (high.w[i] * 0x01020408 >> 24 & 15)
                                                                  << (4 * i + 16);
    return bits;
}

// Merges four words, most of which at most one unit changed: that unit's words are the union. Yields what
// dense_merge_word() does of the others.
GR_INLINE uint32_t dense_merge_four(const Near *n, uint32_t at, uint32_t stored) {
    Four was = four_at(at + n->units * n->stride), all = was;
    uint32_t by[4] = {0, 0, 0, 0}, any = 0, many = 0, left = 0, end = at + n->units * n->stride;
    GR_ROLLED for (; stored; stored &= stored - 1) {
        uint32_t from = at + (uint32_t)__builtin_ctz(stored) * n->stride;
        Four v = four_at(from);
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            int own = v.w[i] != was.w[i];
            many |= own && all.w[i] != was.w[i];
            all.w[i] = own ? v.w[i] : all.w[i];
            by[i] = own ? from : by[i];
        }
        any |= unlike(v, was);
    }
    if (!any)
        return 0;
    if (many) {
        GR_ROLLED for (uint32_t i = 0; i < 16; i += 4) left |= (uint32_t)dense_merge_word(n, at + i, 0);
        return left;
    }
    put_four(end, all);
    GR_ROLLED for (uint32_t from = at; from < end; from += n->stride) {
        Four v;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
            v.w[i] = by[i] == from ? was.w[i] : all.w[i];
        put_four(from, v);
    }
    return 0;
}

GR_INLINE uint32_t dense_merge(const Near *n, uint32_t sequence) {
    uint32_t left = 0, stored = dense_stored(n, sequence);
    GR_ROLLED for (uint32_t k = 16 * n->thread; stored && k < n->stride; k += 16 * n->threads) left |=
        dense_merge_four(n, n->first + k, stored);
    return left;
}

GR_INLINE uint32_t dense_check(const Near *n, uint32_t sequence) {
    uint32_t left = 0, stored = dense_stored(n, sequence);
    if (n->thread == 0) { // the next region's: all have read them in the last one
        uint32_t next = n->says + GR_NEAR_STORED + GR_NEAR_UNITS * (1 - (sequence & 1));
        put_four(next, (Four){{0, 0, 0, 0}});
        put_four(next + 16, (Four){{0, 0, 0, 0}});
    }
    GR_ROLLED for (uint32_t k = 16 * n->thread; stored && k < n->stride; k += 16 * n->threads) {
        uint32_t at = n->first + k, differ = 0;
        Four all = four_at(at + n->units * n->stride);
        GR_ROLLED for (uint32_t some = stored; some; some &= some - 1) differ |=
            unlike(four_at(at + (uint32_t)__builtin_ctz(some) * n->stride), all);
        left |= differ;
    }
    return left;
}

// The offset of what copy 0 has at `at`: of near memory, or of the window.
GR_INLINE uint64_t dense_offset(const Near *n, uint32_t at) {
    uint32_t behind = at - n->first - n->size;
    return at < n->first + n->size ? at : CONTROL.shared_bytes + (CONTROL.window.at - CONTROL.arena) + behind;
}

// Reports what dense_merge() or dense_check() of this thread has left.
static GR_NOINLINE void gr_priv_dense_tells(uint32_t region, uint32_t sequence, int merges) {
    Near n = near_of_block();
    Slot s;
    gr_priv_slot(&s);
    s.region = region_that_began(region);
    s.block = gr_priv_block_number();
    s.sequence = sequence;
    GR_ROLLED for (uint32_t k = 16 * n.thread; k < n.stride; k += 16 * n.threads) {
        GR_ROLLED for (uint32_t at = n.first + k; at < n.first + k + 16; at += 4) {
            Told told = {0};
            if (merges ? dense_merge_word(&n, at, &told) : dense_check_word(&n, at, &told))
                gr_priv_report_all(&s, merges ? GR_FOUND_WRITES : GR_FOUND_READ, dense_offset(&n, at), &told);
        }
    }
}

// Does the whole step, if the quick way was not taken, or the rest of it.
static GR_NOINLINE void gr_priv_dense_rest(const Near *n, uint32_t region, uint32_t sequence, uint32_t rest,
                                           int merges) {
    if (rest & GR_REST_ALL && !(merges ? dense_merge(n, sequence) : dense_check(n, sequence)))
        return;
    gr_priv_dense_tells(region, sequence, merges);
}

uint32_t __gr_dense_merges(uint32_t sequence) {
    Near n = near_of_block();
    if (CONTROL.spent)
        return GR_REST_ALL;
    return (dense_merge(&n, sequence) ? GR_REST_TELL : 0) | (near_lists(&n, sequence) ? GR_REST_ROWS : 0);
}

// next_list() for a region without private copies in global memory.
GR_INLINE void dense_next(const Near *n, uint32_t sequence) {
    if (n->thread)
        return;
    put_shared(n->says + GR_NEAR_COUNT + 4 * (1 - (sequence & 1)), 0);
    put_shared(n->says + GR_NEAR_NOW, 1 - (sequence & 1));
}

uint32_t __gr_dense_checks(uint32_t sequence) {
    Near n = near_of_block();
    if (CONTROL.spent)
        return GR_REST_ALL;
    uint32_t lists = near_lists(&n, sequence), differs = dense_check(&n, sequence);
    if (!lists)
        dense_next(&n, sequence);
    return (lists ? GR_REST_ROWS : 0) | (differs ? GR_REST_TELL : 0);
}

#endif
