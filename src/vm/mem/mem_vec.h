// SPDX-License-Identifier: Apache-2.0
// mem_vec — what the quick memory handlers ask of 32 addresses, and how they move 32 elements, on the vectors of
// the instruction set that the file is compiled for. Internal to mem_kernels.c.
//
// Addresses are those of a register: 64 bits wide, or 32 bits (`narrow`) within a window. Questions are about the
// active lanes; `part` says that there are others.
#ifndef GR_VM_MEM_MEM_VEC_H
#define GR_VM_MEM_MEM_VEC_H

#include "vm/alu/alu_kernel.h"

#include <string.h>

#define UNLIKELY(x) __builtin_expect((x), 0)

// l << shift, for the distance of lanes that access consecutive elements of 1 << shift bytes.
#define STEPS(s)                                                                                             \
    {                                                                                                        \
        0u << s, 1u << s, 2u << s, 3u << s, 4u << s, 5u << s, 6u << s, 7u << s, 8u << s, 9u << s, 10u << s,  \
            11u << s, 12u << s, 13u << s, 14u << s, 15u << s, 16u << s, 17u << s, 18u << s, 19u << s,        \
            20u << s, 21u << s, 22u << s, 23u << s, 24u << s, 25u << s, 26u << s, 27u << s, 28u << s,        \
            29u << s, 30u << s, 31u << s                                                                     \
    }
static const uint64_t step64[5][VM_LANES]
    __attribute__((aligned(64), unused)) = {STEPS(0), STEPS(1), STEPS(2), STEPS(3), STEPS(4)};
static const uint32_t step32[5][VM_LANES]
    __attribute__((aligned(64), unused)) = {STEPS(0), STEPS(1), STEPS(2), STEPS(3), STEPS(4)};

INLINE unsigned shift_of(unsigned size) { return (unsigned)__builtin_ctz(size); }

INLINE bool any(VU64 v) {
#if defined(ALU_AVX512)
    return _mm512_test_epi64_mask((__m512i)v, (__m512i)v) != 0;
#elif defined(ALU_AVX2)
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    return (v[0] | v[1]) != 0;
#endif
}

// The addresses of lanes [from, from + n) are those of consecutive elements, of which lane 0's would be at `zero`; with
// `same`, all are `zero`.
INLINE bool in_step(const void *a, bool narrow, uint64_t zero, unsigned shift, bool same, unsigned from,
                    unsigned n, uint32_t mask, bool part) {
    VU64 bad = {0};
    if (narrow)
        for (unsigned k = from / L32; k < (from + n) / L32; k++) {
            VU32 x = ((const VU32 *)a)[k];
            if (!same)
                x -= ((const VU32 *)step32[shift])[k];
            x ^= SPLAT(VU32, (uint32_t)zero);
            if (part)
                x &= mask32(mask, k);
            bad |= (VU64)x;
        }
    else
        for (unsigned k = from / L64; k < (from + n) / L64; k++) {
            VU64 x = ((const VU64 *)a)[k];
            if (!same)
                x -= ((const VU64 *)step64[shift])[k];
            x ^= SPLAT(VU64, zero);
            if (part)
                x &= mask64(mask, k);
            bad |= x;
        }
    return !any(bad);
}

// All active lanes' addresses plus `offset` are in [lo, hi - size] and aligned. All bounds are far below 2^63, so an
// address outside makes one of the two differences negative.
INLINE bool all_inside(const void *a, bool narrow, uint64_t offset, uint64_t lo, uint64_t hi, unsigned size,
                       uint32_t mask, bool part) {
    if (hi - lo < size)
        return false;
    if (narrow) {
        VU32 bad = {0};
        uint32_t to = (uint32_t)(hi - lo) - size, from = (uint32_t)(offset - lo);
        for (unsigned k = 0; k < N32; k++) {
            VU32 x = ((const VU32 *)a)[k] + from;
            x = ((x | (to - x)) >> 31) | (x & (size - 1));
            if (part)
                x &= mask32(mask, k);
            bad |= x;
        }
        return !any((VU64)bad);
    }
    VU64 bad = {0};
    uint64_t from = lo - offset, to = hi - size - offset;
    for (unsigned k = 0; k < N64; k++) {
        VU64 x = ((const VU64 *)a)[k];
        x = (((x - from) | (to - x)) >> 63) | ((x + offset) & (uint64_t)(size - 1));
        if (part)
            x &= mask64(mask, k);
        bad |= x;
    }
    return !any(bad);
}

// ---- Loads -------------------------------------------------------------------------------------------------

INLINE void splat_lanes(VmWarp *w, uint32_t slot, unsigned elem, const uint8_t *p, unsigned from, unsigned n,
                        bool part) {
    if (elem == 4) {
        uint32_t v;
        memcpy(&v, p, 4);
        for (unsigned k = from / L32; k < (from + n) / L32; k++)
            put32(w, slot, k, SPLAT(VU32, v), part);
    } else {
        uint64_t v;
        memcpy(&v, p, 8);
        for (unsigned k = from / L64; k < (from + n) / L64; k++)
            put64(w, slot, k, SPLAT(VU64, v), part);
    }
}

// Lane l's element from p + l * elem; nothing of inactive lanes is touched.
INLINE void load_consecutive(VmWarp *w, uint32_t slot, unsigned elem, const uint8_t *p, bool part) {
    uint8_t *reg = w->frame + slot;
    if (!part) {
        memcpy(reg, p, (size_t)VM_LANES * elem);
        return;
    }
#if defined(ALU_AVX512)
    for (unsigned k = 0; k < VM_LANES * elem / 64; k++) {
        __m512i *r = (__m512i *)(void *)reg + k;
        *r = elem == 4 ? _mm512_mask_loadu_epi32(*r, (__mmask16)(w->mask >> (k * 16)), p + (size_t)k * 64)
                       : _mm512_mask_loadu_epi64(*r, (__mmask8)(w->mask >> (k * 8)), p + (size_t)k * 64);
    }
#elif defined(ALU_AVX2)
    for (unsigned k = 0; k < VM_LANES * elem / 32; k++) {
        const uint8_t *from = p + (size_t)k * 32;
        if (elem == 4)
            put32(w, slot, k,
                  (VU32)_mm256_maskload_epi32((const int *)(const void *)from, (__m256i)mask32(w->mask, k)),
                  true);
        else
            put64(w, slot, k,
                  (VU64)_mm256_maskload_epi64((const long long *)(const void *)from,
                                              (__m256i)mask64(w->mask, k)),
                  true);
    }
#else
    for (uint32_t m = w->mask; m; m &= m - 1) {
        size_t l = (size_t)__builtin_ctz(m);
        memcpy(reg + l * elem, p + l * elem, elem);
    }
#endif
}

// Loads, for lanes [from, from + n), the element at base + address. Leaves inactive lanes' addresses alone.
INLINE void gather(VmWarp *w, uint32_t slot, unsigned elem, const void *a, bool narrow, uint64_t base,
                   unsigned from, unsigned n, bool part) {
    uint8_t *reg = w->frame + slot;
#if defined(ALU_AVX512)
    const void *p = (const void *)(uintptr_t)base;
    for (unsigned k = from / 8; k < (from + n) / 8; k++) {
        __mmask8 m = part ? (__mmask8)(w->mask >> (k * 8)) : 0xff;
        if (elem == 4) {
            __m256i *r = (__m256i *)(void *)reg + k;
            *r = narrow ? _mm256_mmask_i32gather_epi32(*r, m, ((const __m256i *)a)[k], p, 1)
                        : _mm512_mask_i64gather_epi32(*r, m, ((const __m512i *)a)[k], p, 1);
        } else {
            __m512i *r = (__m512i *)(void *)reg + k;
            *r = narrow ? _mm512_mask_i32gather_epi64(*r, m, ((const __m256i *)a)[k], p, 1)
                        : _mm512_mask_i64gather_epi64(*r, m, ((const __m512i *)a)[k], p, 1);
        }
    }
#elif defined(ALU_AVX2)
    const void *p = (const void *)(uintptr_t)base;
    for (unsigned k = from / 4; k < (from + n) / 4; k++) {
        if (elem == 4) {
            __m128i *r = (__m128i *)(void *)reg + k, bits = _mm_set_epi32(8, 4, 2, 1);
            __m128i m = _mm_and_si128(_mm_set1_epi32((int)(w->mask >> (k * 4))), bits);
            m = part ? _mm_cmpeq_epi32(m, bits) : _mm_set1_epi32(-1);
            *r = narrow ? _mm_mask_i32gather_epi32(*r, (const int *)p, ((const __m128i *)a)[k], m, 1)
                        : _mm256_mask_i64gather_epi32(*r, (const int *)p, ((const __m256i *)a)[k], m, 1);
        } else {
            __m256i *r = (__m256i *)(void *)reg + k;
            __m256i m = part ? (__m256i)mask64(w->mask, k) : _mm256_set1_epi32(-1);
            const long long *q = p;
            *r = narrow ? _mm256_mask_i32gather_epi64(*r, q, ((const __m128i *)a)[k], m, 1)
                        : _mm256_mask_i64gather_epi64(*r, q, ((const __m256i *)a)[k], m, 1);
        }
    }
#else
    for (unsigned l = from; l < from + n; l++) {
        if (part && !(w->mask >> l & 1))
            continue;
        uint64_t at = narrow ? ((const uint32_t *)a)[l] : ((const uint64_t *)a)[l];
        memcpy(reg + (size_t)l * elem, (const void *)(uintptr_t)(base + at), elem);
    }
#endif
}

// ---- Stores ------------------------------------------------------------------------------------------------

INLINE void store_consecutive(const VmWarp *w, uint32_t slot, unsigned elem, uint8_t *p, bool part) {
    const uint8_t *reg = w->frame + slot;
    if (!part) {
        memcpy(p, reg, (size_t)VM_LANES * elem);
        return;
    }
#if defined(ALU_AVX512)
    for (unsigned k = 0; k < VM_LANES * elem / 64; k++) {
        __m512i r = ((const __m512i *)(const void *)reg)[k];
        if (elem == 4)
            _mm512_mask_storeu_epi32(p + (size_t)k * 64, (__mmask16)(w->mask >> (k * 16)), r);
        else
            _mm512_mask_storeu_epi64(p + (size_t)k * 64, (__mmask8)(w->mask >> (k * 8)), r);
    }
#elif defined(ALU_AVX2)
    for (unsigned k = 0; k < VM_LANES * elem / 32; k++) {
        __m256i r = ((const __m256i *)(const void *)reg)[k];
        if (elem == 4)
            _mm256_maskstore_epi32((int *)(void *)(p + (size_t)k * 32), (__m256i)mask32(w->mask, k), r);
        else
            _mm256_maskstore_epi64((long long *)(void *)(p + (size_t)k * 32), (__m256i)mask64(w->mask, k), r);
    }
#else
    for (uint32_t m = w->mask; m; m &= m - 1) {
        size_t l = (size_t)__builtin_ctz(m);
        memcpy(p + l * elem, reg + l * elem, elem);
    }
#endif
}

#endif
