// SPDX-License-Identifier: Apache-2.0
// alu_kernel — how kernels are written: explicit vectors of the width the compiled-for instruction set has, a
// loop over the vectors of a register, and a store that blends when only some lanes are active.
//
// A kernel is an inline body with a constant parameter `part`; ALU_HANDLER makes the two handlers of VmInsn.exec
// out of it. Bodies may read all lanes, garbage included, so they must not fault on any value. Destinations may
// be sources: a body reads everything of vector k before it stores vector k, and nothing of another vector.
//
// This header is compiled several times with different -march options, see alu.cmake.
#ifndef GR_VM_ALU_ALU_KERNEL_H
#define GR_VM_ALU_ALU_KERNEL_H

#include "vm/alu/alu.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#ifndef ALU_ISA
#define ALU_ISA base
#endif
#define ALU_CAT2(a, b) a##_##b
#define ALU_CAT(a, b)  ALU_CAT2(a, b)
// Exports the table of one kernel file: ALU_EXPORT(int) defines gr_alu_int_v3.
#define ALU_EXPORT(file)                                                                                     \
    extern const AluTable ALU_CAT(gr_alu_##file, ALU_ISA);                                                   \
    const AluTable ALU_CAT(gr_alu_##file, ALU_ISA) = {rows, sizeof rows / sizeof rows[0]}

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define ALU_AVX512 1
#define VB         64
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define ALU_AVX2 1
#define VB       32
#else
#define VB 16
#endif

#define INLINE static inline __attribute__((always_inline, unused))

// V…: a whole machine vector. H…: as many lanes as a vector of the next wider type, Q… of the one after.
#define ALU_VECTOR(name, type, bytes) typedef type name __attribute__((vector_size(bytes), may_alias))
ALU_VECTOR(VU8, uint8_t, VB);
ALU_VECTOR(VS8, int8_t, VB);
ALU_VECTOR(VU16, uint16_t, VB);
ALU_VECTOR(VS16, int16_t, VB);
ALU_VECTOR(VU32, uint32_t, VB);
ALU_VECTOR(VS32, int32_t, VB);
ALU_VECTOR(VU64, uint64_t, VB);
ALU_VECTOR(VS64, int64_t, VB);
ALU_VECTOR(VF32, float, VB);
ALU_VECTOR(VF64, double, VB);
ALU_VECTOR(HU16, uint16_t, VB / 2);
ALU_VECTOR(HS16, int16_t, VB / 2);
ALU_VECTOR(HU32, uint32_t, VB / 2);
ALU_VECTOR(HS32, int32_t, VB / 2);
ALU_VECTOR(HF32, float, VB / 2);

enum { L16 = VB / 2, L32 = VB / 4, L64 = VB / 8 };       // lanes of a vector
enum { N16 = 32 / L16, N32 = 32 / L32, N64 = 32 / L64 }; // vectors of a register

#define SPLAT(V, x) ((V)((V){0} + (x)))

// A[i] = 1 << i for the lanes of one vector.
static const uint64_t alu_bit64[8] __attribute__((unused, aligned(64))) = {1, 2, 4, 8, 16, 32, 64, 128};
static const uint32_t alu_bit32[16] __attribute__((unused, aligned(64))) = {
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
static const uint16_t alu_bit16[16] __attribute__((unused, aligned(64))) = {
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};

// All ones in the lanes of vector k whose bit of `mask` is set.
INLINE VU64 mask64(uint32_t mask, unsigned k) {
#ifdef ALU_AVX512
    return (VU64)_mm512_movm_epi64((__mmask8)(mask >> (k * L64)));
#else
    VU64 bit = *(const VU64 *)alu_bit64;
    return (VU64)((SPLAT(VU64, (uint64_t)(mask >> (k * L64))) & bit) == bit);
#endif
}
INLINE VU32 mask32(uint32_t mask, unsigned k) {
#ifdef ALU_AVX512
    return (VU32)_mm512_movm_epi32((__mmask16)(mask >> (k * L32)));
#else
    VU32 bit = *(const VU32 *)alu_bit32;
    return (VU32)((SPLAT(VU32, mask >> (k * L32)) & bit) == bit);
#endif
}
INLINE VU16 mask16(uint32_t mask, unsigned k) {
#ifdef ALU_AVX512
    (void)k;
    return (VU16)_mm512_movm_epi16(mask);
#else
    VU16 bit = *(const VU16 *)alu_bit16;
    return (VU16)((SPLAT(VU16, (uint16_t)(mask >> (k * L16))) & bit) == bit);
#endif
}

// The other way: bit l is the top bit of lane l of vector k, at its place in a predicate.
INLINE uint32_t bits64(VS64 m, unsigned k) {
    uint32_t b;
#if defined(ALU_AVX512)
    b = _mm512_movepi64_mask((__m512i)m);
#elif defined(ALU_AVX2)
    b = (uint32_t)_mm256_movemask_pd((__m256d)m);
#elif defined(__SSE2__)
    b = (uint32_t)_mm_movemask_pd((__m128d)m);
#else
    b = 0;
    for (unsigned l = 0; l < L64; l++)
        b |= (uint32_t)(m[l] < 0) << l;
#endif
    return b << (k * L64);
}
INLINE uint32_t bits32(VS32 m, unsigned k) {
    uint32_t b;
#if defined(ALU_AVX512)
    b = _mm512_movepi32_mask((__m512i)m);
#elif defined(ALU_AVX2)
    b = (uint32_t)_mm256_movemask_ps((__m256)m);
#elif defined(__SSE2__)
    b = (uint32_t)_mm_movemask_ps((__m128)m);
#else
    b = 0;
    for (unsigned l = 0; l < L32; l++)
        b |= (uint32_t)(m[l] < 0) << l;
#endif
    return b << (k * L32);
}
INLINE uint32_t bits16(VS16 m, unsigned k) {
#if defined(ALU_AVX512)
    (void)k;
    return _mm512_movepi16_mask((__m512i)m);
#elif defined(ALU_AVX2)
    __m256i p = _mm256_packs_epi16((__m256i)m, (__m256i)m); // bytes 0-7 and, in the upper half, 8-15
    uint32_t b = (uint32_t)_mm256_movemask_epi8(p);
    return ((b & 0xff) | (b >> 8 & 0xff00)) << (k * L16);
#elif defined(__SSE2__)
    __m128i p = _mm_packs_epi16((__m128i)m, (__m128i)m);
    return ((uint32_t)_mm_movemask_epi8(p) & 0xff) << (k * L16);
#else
    uint32_t b = 0;
    for (unsigned l = 0; l < L16; l++)
        b |= (uint32_t)(m[l] < 0) << l;
    return b << (k * L16);
#endif
}

// Subnormal f32 to zero, keeping the sign.
INLINE VF32 flush32(VF32 x) {
#ifdef ALU_AVX512
    __m512i u = (__m512i)x, exponent = _mm512_set1_epi32(0x7f800000), sign = _mm512_set1_epi32(INT32_MIN);
    return (VF32)_mm512_mask_and_epi32(u, _mm512_testn_epi32_mask(u, exponent), u, sign);
#else
    VU32 u = (VU32)x, zero = (VU32)((u & 0x7f800000) == 0);
    return (VF32)(u & ~(zero & 0x7fffffff));
#endif
}

#define GET(V, off, k) (((const V *)(w->frame + (off)))[k])

// m is all ones or all zeros in each lane: x where it is ones, else y. The operands may be vectors of any type.
INLINE VU64 blend_bits(VU64 m, VU64 x, VU64 y) {
#if defined(ALU_AVX512)
    return (VU64)_mm512_ternarylogic_epi64((__m512i)m, (__m512i)x, (__m512i)y, 0xca);
#elif defined(ALU_AVX2)
    return (VU64)_mm256_blendv_epi8((__m256i)y, (__m256i)x, (__m256i)m);
#else
    return y ^ (m & (x ^ y));
#endif
}
#define BLEND(V, m, x, y) ((V)blend_bits((VU64)(m), (VU64)(x), (VU64)(y)))

// Lanes of 32 bits widened to 64; gcc 12 splits such conversions in two when left to itself.
INLINE VU64 widen_u32(HU32 x) {
#if defined(ALU_AVX512)
    return (VU64)_mm512_cvtepu32_epi64((__m256i)x);
#elif defined(ALU_AVX2)
    return (VU64)_mm256_cvtepu32_epi64((__m128i)x);
#else
    return __builtin_convertvector(x, VU64);
#endif
}
INLINE VS64 widen_s32(HS32 x) {
#if defined(ALU_AVX512)
    return (VS64)_mm512_cvtepi32_epi64((__m256i)x);
#elif defined(ALU_AVX2)
    return (VS64)_mm256_cvtepi32_epi64((__m128i)x);
#else
    return __builtin_convertvector(x, VS64);
#endif
}

INLINE void put16(VmWarp *w, uint32_t off, unsigned k, VU16 r, bool part) {
    VU16 *p = (VU16 *)(w->frame + off) + k;
    if (part) {
#ifdef ALU_AVX512
        r = (VU16)_mm512_mask_mov_epi16((__m512i)*p, w->mask, (__m512i)r);
#else
        r = BLEND(VU16, mask16(w->mask, k), r, *p);
#endif
    }
    *p = r;
}
#ifdef ALU_AVX2
// Shift counts that bring a lane's bit of the mask to the top of the lane, which is where blendv looks.
static const uint32_t alu_top32[32]
    __attribute__((aligned(64))) = {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                                    15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0};
static const uint64_t alu_top64[32]
    __attribute__((aligned(64))) = {63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,
                                    47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32};
#endif
INLINE void put32(VmWarp *w, uint32_t off, unsigned k, VU32 r, bool part) {
    VU32 *p = (VU32 *)(w->frame + off) + k;
    if (part) {
#if defined(ALU_AVX512)
        r = (VU32)_mm512_mask_mov_epi32((__m512i)*p, (__mmask16)(w->mask >> (k * L32)), (__m512i)r);
#elif defined(ALU_AVX2)
        __m256i m = _mm256_sllv_epi32(_mm256_set1_epi32((int)w->mask), ((const __m256i *)alu_top32)[k]);
        r = (VU32)_mm256_blendv_ps((__m256)*p, (__m256)r, (__m256)m);
#else
        r = BLEND(VU32, mask32(w->mask, k), r, *p);
#endif
    }
    *p = r;
}
INLINE void put64(VmWarp *w, uint32_t off, unsigned k, VU64 r, bool part) {
    VU64 *p = (VU64 *)(w->frame + off) + k;
    if (part) {
#if defined(ALU_AVX512)
        r = (VU64)_mm512_mask_mov_epi64((__m512i)*p, (__mmask8)(w->mask >> (k * L64)), (__m512i)r);
#elif defined(ALU_AVX2)
        __m256i m = _mm256_sllv_epi64(_mm256_set1_epi64x(w->mask), ((const __m256i *)alu_top64)[k]);
        r = (VU64)_mm256_blendv_pd((__m256d)*p, (__m256d)r, (__m256d)m);
#else
        r = BLEND(VU64, mask64(w->mask, k), r, *p);
#endif
    }
    *p = r;
}
INLINE void put_pred(VmWarp *w, uint32_t off, uint32_t bits, bool part) {
    uint32_t *p = &VM_PRED(w, off);
    *p = part ? (*p & ~w->mask) | (bits & w->mask) : bits;
}

#define PUT16(r) put16(w, i->d, k, (VU16)(r), part)
#define PUT32(r) put32(w, i->d, k, (VU32)(r), part)
#define PUT64(r) put64(w, i->d, k, (VU64)(r), part)

// The body works on copies of its operands, which no store to the frame can change: else the compiler would load the
// operands' offsets again for every vector.
#define ALU_CALL(name, part)                                                                                 \
    VmWarp warp = {.frame = w->frame, .mask = w->mask, .cc = w->cc};                                         \
    const VmInsn insn = {.d = i->d, .a = i->a, .b = i->b, .c = i->c, .d2 = i->d2, .e = i->e, .imm = i->imm}; \
    name(&warp, &insn, part);
#define ALU_HANDLER(name)                                                                                    \
    static const VmInsn *name##_full(VmWarp *w, const VmInsn *i) {                                           \
        ALU_CALL(name, false)                                                                                \
        return i + 1;                                                                                        \
    }                                                                                                        \
    static const VmInsn *name##_part(VmWarp *w, const VmInsn *i) {                                           \
        ALU_CALL(name, true)                                                                                 \
        return i + 1;                                                                                        \
    }
// Handlers for bodies that write the condition code.
#define ALU_HANDLER_CC(name)                                                                                 \
    static const VmInsn *name##_full(VmWarp *w, const VmInsn *i) {                                           \
        ALU_CALL(name, false)                                                                                \
        w->cc = warp.cc;                                                                                     \
        return i + 1;                                                                                        \
    }                                                                                                        \
    static const VmInsn *name##_part(VmWarp *w, const VmInsn *i) {                                           \
        ALU_CALL(name, true)                                                                                 \
        w->cc = warp.cc;                                                                                     \
        return i + 1;                                                                                        \
    }
#define ALU_BODY(name)    INLINE void name(VmWarp *w, const VmInsn *i, bool part)
#define ALU_ROW(op, type) {#op "." #type, {k_##op##_##type##_full, k_##op##_##type##_part}},

// Kernels of a .def: V1, V2, V3 take vectors of type V (bits wide W) to a vector of the same width.
#define ALU_V1(op, type, W, V, expr)                                                                         \
    ALU_BODY(k_##op##_##type) {                                                                              \
        for (unsigned k = 0; k < N##W; k++) {                                                                \
            V a = GET(V, i->a, k);                                                                           \
            PUT##W(expr);                                                                                    \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)
#define ALU_V2(op, type, W, V, expr)                                                                         \
    ALU_BODY(k_##op##_##type) {                                                                              \
        for (unsigned k = 0; k < N##W; k++) {                                                                \
            V a = GET(V, i->a, k), b = GET(V, i->b, k);                                                      \
            PUT##W(expr);                                                                                    \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)
#define ALU_V3(op, type, W, V, expr)                                                                         \
    ALU_BODY(k_##op##_##type) {                                                                              \
        for (unsigned k = 0; k < N##W; k++) {                                                                \
            V a = GET(V, i->a, k), b = GET(V, i->b, k), c = GET(V, i->c, k);                                 \
            PUT##W(expr);                                                                                    \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)

// S1 to S4: an expression for one lane, in a loop that the compiler can vectorize: results go first to an array to
// which nothing else points. D, A, B, C, E are element types of the registers; `imm` may be used.
#define LANE(T, off) (((T *)(w->frame + (off)))[l])
#define ALU_S(op, type, D, loads, expr)                                                                      \
    ALU_BODY(k_##op##_##type) {                                                                              \
        const uint64_t imm = i->imm;                                                                         \
        D r[VM_LANES] __attribute__((aligned(64)));                                                          \
        (void)imm;                                                                                           \
        for (unsigned l = 0; l < VM_LANES; l++) {                                                            \
            loads r[l] = (D)(expr);                                                                          \
        }                                                                                                    \
        put_lanes(w, i->d, r, sizeof(D), part);                                                              \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)
#define ALU_S1(op, type, D, A, expr)    ALU_S(op, type, D, A a = LANE(A, i->a);, expr)
#define ALU_S2(op, type, D, A, B, expr) ALU_S(op, type, D, A a = LANE(A, i->a); B b = LANE(B, i->b);, expr)
#define ALU_S3(op, type, D, A, B, C, expr)                                                                   \
    ALU_S(op, type, D, A a = LANE(A, i->a); B b = LANE(B, i->b); C c = LANE(C, i->c);, expr)
#define ALU_S4(op, type, D, A, B, C, E, expr)                                                                \
    ALU_S(op, type, D, A a = LANE(A, i->a); B b = LANE(B, i->b); C c = LANE(C, i->c); E e = LANE(E, i->e);   \
          , expr)

INLINE void put_lanes(VmWarp *w, uint32_t off, const void *lanes, unsigned size, bool part) {
    switch (size) {
    case 2:
        for (unsigned k = 0; k < N16; k++)
            put16(w, off, k, ((const VU16 *)lanes)[k], part);
        break;
    case 4:
        for (unsigned k = 0; k < N32; k++)
            put32(w, off, k, ((const VU32 *)lanes)[k], part);
        break;
    default:
        for (unsigned k = 0; k < N64; k++)
            put64(w, off, k, ((const VU64 *)lanes)[k], part);
        break;
    }
}

// L1 to L3: S for what has no vector form: one handler computes active lanes only, for full and partial masks.
#define ALU_L(op, type, D, loads, expr)                                                                      \
    static const VmInsn *k_##op##_##type##_full(VmWarp *w, const VmInsn *i) {                                \
        const uint64_t imm = i->imm;                                                                         \
        (void)imm;                                                                                           \
        for (uint32_t m = w->mask; m; m &= m - 1) {                                                          \
            unsigned l = (unsigned)__builtin_ctz(m);                                                         \
            loads LANE(D, i->d) = (D)(expr);                                                                 \
        }                                                                                                    \
        return i + 1;                                                                                        \
    }                                                                                                        \
    static const VmInsn *k_##op##_##type##_part(VmWarp *w, const VmInsn *i) {                                \
        return k_##op##_##type##_full(w, i);                                                                 \
    }
#define ALU_L1(op, type, D, A, expr)    ALU_L(op, type, D, A a = LANE(A, i->a);, expr)
#define ALU_L2(op, type, D, A, B, expr) ALU_L(op, type, D, A a = LANE(A, i->a); B b = LANE(B, i->b);, expr)
#define ALU_L3(op, type, D, A, B, C, expr)                                                                   \
    ALU_L(op, type, D, A a = LANE(A, i->a); B b = LANE(B, i->b); C c = LANE(C, i->c);, expr)

#endif
