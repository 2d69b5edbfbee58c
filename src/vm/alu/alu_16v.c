// SPDX-License-Identifier: Apache-2.0
// alu_16v — the plain forms of f16 and bf16 arithmetic, and their conversions from and to f32, on vectors of f32.
// Results are those of alu_16.c, by the same argument; fused operations round to odd in float instead of double, which
// is exact for f16 (a product has 22 bits and lies between 2^-48 and 2^32) and for bf16 as long as the product neither
// under- nor overflows. A register where one does goes lane by lane.

#include "vm/alu/alu_16.h"

// ---- Eight, sixteen or thirty-two bits of lanes ----------------------------------------------------------

INLINE VU32 widen_u16(HU16 h) {
#if defined(ALU_AVX512)
    return (VU32)_mm512_cvtepu16_epi32((__m256i)h);
#elif defined(ALU_AVX2)
    return (VU32)_mm256_cvtepu16_epi32((__m128i)h);
#else
    return __builtin_convertvector(h, VU32);
#endif
}
INLINE HU16 narrow_u16(VU32 x) {
#if defined(ALU_AVX512)
    return (HU16)_mm512_cvtepi32_epi16((__m512i)x);
#elif defined(ALU_AVX2)
    __m256i p = _mm256_packus_epi32((__m256i)x, (__m256i)x);
    return (HU16)_mm256_castsi256_si128(_mm256_permute4x64_epi64(p, 0x88));
#else
    return __builtin_convertvector(x, HU16);
#endif
}
INLINE VU16 join(HU16 lo, HU16 hi) {
#if VB == 64
    return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                                   19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
#elif VB == 32
    return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

INLINE VF32 canonical(VF32 x) { return BLEND(VF32, x == x, x, SPLAT(VU32, 0x7fffffffu)); }

INLINE VF32 get_f16(HU16 h) {
#if defined(ALU_AVX512)
    return (VF32)_mm512_cvtph_ps((__m256i)h);
#elif defined(ALU_AVX2)
    return (VF32)_mm256_cvtph_ps((__m128i)h);
#else
    VU32 x = widen_u16(h), magnitude = (x & 0x7fff) << 13;
    VU32 special = (VU32)(magnitude >= 0x0f800000) & 0x7f800000;
    return (VF32)((VU32)((VF32)magnitude * 0x1p112f) | special | (x & 0x8000) << 16);
#endif
}
INLINE HU16 set_f16(VF32 r) {
    r = canonical(r);
#if defined(ALU_AVX512)
    return (HU16)_mm512_cvtps_ph((__m512)r, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(ALU_AVX2)
    return (HU16)_mm256_cvtps_ph((__m256)r, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    HU16 h;
    for (unsigned l = 0; l < L32; l++)
        h[l] = f16_of_float(r[l]);
    return h;
#endif
}
INLINE VF32 get_bf16(HU16 h) { return (VF32)(widen_u16(h) << 16); }
INLINE HU16 set_bf16(VF32 r) {
    VU32 u = (VU32)r, rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return narrow_u16(BLEND(VU32, r == r, rounded, SPLAT(VU32, 0x7fffu)));
}

// p + c with the last bit set when the sum is inexact.
INLINE VF32 add_odd32(VF32 p, VF32 c) {
    VF32 s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
    VU32 u = (VU32)s, above = (VU32)(error > 0), inexact = above | (VU32)(error < 0);
    VU32 step = inexact & (VU32)((u & 1) == 0), outward = ~(above ^ (VU32)(s > 0));
    return (VF32)(u - (step & outward) + (step & ~outward));
}

// ---- Kernels ---------------------------------------------------------------------------------------------

// A 16-bit register is N16 vectors of 16-bit lanes, a packed 32-bit one N32 of them; each is two of f32.
#define HALF(off, j) GET(HU16, off, 2 * k + j)
#define OP2(op, fmt, type, W, expr)                                                                          \
    ALU_BODY(k_##op##_##type) {                                                                              \
        for (unsigned k = 0; k < N##W; k++) {                                                                \
            HU16 h[2];                                                                                       \
            for (unsigned j = 0; j < 2; j++) {                                                               \
                VF32 a = get_##fmt(HALF(i->a, j)), b = get_##fmt(HALF(i->b, j));                             \
                h[j] = set_##fmt(expr);                                                                      \
            }                                                                                                \
            PUT##W(join(h[0], h[1]));                                                                        \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)
#define BOTH2(op, expr)                                                                                      \
    OP2(op, f16, f16, 16, expr)                                                                              \
    OP2(op, f16, f16x2, 32, expr)                                                                            \
    OP2(op, bf16, bf16, 16, expr)                                                                            \
    OP2(op, bf16, bf16x2, 32, expr)
BOTH2(add, a + b)
BOTH2(sub, a - b)
OP2(mul, f16, f16, 16, a *b)
OP2(mul, f16, f16x2, 32, a *b)

#define FMA_F16(type, W)                                                                                     \
    ALU_BODY(k_fma_##type) {                                                                                 \
        for (unsigned k = 0; k < N##W; k++) {                                                                \
            HU16 h[2];                                                                                       \
            for (unsigned j = 0; j < 2; j++) {                                                               \
                VF32 p = get_f16(HALF(i->a, j)) * get_f16(HALF(i->b, j));                                    \
                h[j] = set_f16(add_odd32(p, get_f16(HALF(i->c, j))));                                        \
            }                                                                                                \
            PUT##W(join(h[0], h[1]));                                                                        \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_fma_##type)
FMA_F16(f16, 16)
FMA_F16(f16x2, 32)

// Whether a product of bf16 is inexact as a float, or may be: too small, or too large to be added to.
#define PRODUCTS_FIT(W)                                                                                      \
    INLINE bool products_fit_##W(VmWarp *w, const VmInsn *i) {                                               \
        uint32_t bad = 0;                                                                                    \
        for (unsigned k = 0; k < N##W; k++)                                                                  \
            for (unsigned j = 0; j < 2; j++) {                                                               \
                VF32 a = get_bf16(HALF(i->a, j)), b = get_bf16(HALF(i->b, j)), p = a * b;                    \
                VU32 size = (VU32)p & 0x7fffffff, zero = (VU32)(a == 0) | (VU32)(b == 0);                    \
                VU32 outside = (VU32)(size < 0x0d800000) | (VU32)(size >= 0x7f000000);                       \
                bad |= bits32((VS32)(outside & ~zero), 0);                                                   \
            }                                                                                                \
        return bad == 0;                                                                                     \
    }
PRODUCTS_FIT(16)
PRODUCTS_FIT(32)

#define SLOWLY(T, expr)                                                                                      \
    {                                                                                                        \
        T r[VM_LANES] __attribute__((aligned(64)));                                                          \
        for (unsigned l = 0; l < VM_LANES; l++) {                                                            \
            T a = LANE(T, i->a), b = LANE(T, i->b), c = LANE(T, i->c);                                       \
            (void)c;                                                                                         \
            r[l] = (T)(expr);                                                                                \
        }                                                                                                    \
        put_lanes(w, i->d, r, sizeof(T), part);                                                              \
    }
#define PRODUCT_BF16(op, type, W, T, expr, slow)                                                             \
    ALU_BODY(k_##op##_##type) {                                                                              \
        if (__builtin_expect(products_fit_##W(w, i), 1)) {                                                   \
            for (unsigned k = 0; k < N##W; k++) {                                                            \
                HU16 h[2];                                                                                   \
                for (unsigned j = 0; j < 2; j++) {                                                           \
                    VF32 p = get_bf16(HALF(i->a, j)) * get_bf16(HALF(i->b, j));                              \
                    h[j] = set_bf16(expr);                                                                   \
                }                                                                                            \
                PUT##W(join(h[0], h[1]));                                                                    \
            }                                                                                                \
        } else {                                                                                             \
            SLOWLY(T, slow)                                                                                  \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)
#define ADDEND get_bf16(HALF(i->c, j))
PRODUCT_BF16(mul, bf16, 16, uint16_t, p, OF2(mul, bf16, a, b, 0))
PRODUCT_BF16(mul, bf16x2, 32, uint32_t, p,
             PACK(OF2(mul, bf16, LO(a), LO(b), 0), OF2(mul, bf16, HI(a), HI(b), 0)))
PRODUCT_BF16(fma, bf16, 16, uint16_t, add_odd32(p, ADDEND), OF3(fma, bf16, a, b, c, 0))
PRODUCT_BF16(fma, bf16x2, 32, uint32_t, add_odd32(p, ADDEND),
             PACK(OF3(fma, bf16, LO(a), LO(b), LO(c), 0), OF3(fma, bf16, HI(a), HI(b), HI(c), 0)))

// ---- Conversions -----------------------------------------------------------------------------------------

ALU_BODY(k_cvt_fast_f32_f16) {
    for (unsigned k = 0; k < N32; k++)
        PUT32(canonical(get_f16(GET(HU16, i->a, k))));
}
ALU_HANDLER(k_cvt_fast_f32_f16)
ALU_BODY(k_cvt_fast_f32_bf16) {
    for (unsigned k = 0; k < N32; k++)
        PUT32(get_bf16(GET(HU16, i->a, k)));
}
ALU_HANDLER(k_cvt_fast_f32_bf16)
#define TO_HALF(fmt)                                                                                         \
    ALU_BODY(k_cvt_fast_##fmt##_f32) {                                                                       \
        for (unsigned k = 0; k < N16; k++)                                                                   \
            PUT16(join(set_##fmt(GET(VF32, i->a, 2 * k)), set_##fmt(GET(VF32, i->a, 2 * k + 1))));           \
    }                                                                                                        \
    ALU_HANDLER(k_cvt_fast_##fmt##_f32)                                                                      \
    ALU_BODY(k_cvt2_fast_##fmt##x2_f32) { /* the first above the second */                                   \
        for (unsigned k = 0; k < N32; k++) {                                                                 \
            VU32 hi = widen_u16(set_##fmt(GET(VF32, i->a, k))),                                              \
                 lo = widen_u16(set_##fmt(GET(VF32, i->b, k)));                                              \
            PUT32(hi << 16 | lo);                                                                            \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_cvt2_fast_##fmt##x2_f32)
TO_HALF(f16)
TO_HALF(bf16)

static const AluKernel rows[] = {
// clang-format off
#define FORMATS(op) ALU_ROW(op, f16) ALU_ROW(op, f16x2) ALU_ROW(op, bf16) ALU_ROW(op, bf16x2)
    FORMATS(add) FORMATS(sub) FORMATS(mul) FORMATS(fma)
    ALU_ROW(cvt_fast, f32_f16) ALU_ROW(cvt_fast, f32_bf16)
    ALU_ROW(cvt_fast, f16_f32) ALU_ROW(cvt_fast, bf16_f32)
    ALU_ROW(cvt2_fast, f16x2_f32) ALU_ROW(cvt2_fast, bf16x2_f32)
    // clang-format on
};
ALU_EXPORT(16v);
