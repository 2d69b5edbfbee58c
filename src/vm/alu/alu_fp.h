// SPDX-License-Identifier: Apache-2.0
// alu_fp — vectors of f32 and f64: rounding mode, flushing, saturation, NaN results, fused multiply-add.
//
// PTX ISA 9.7.3: f32 keeps subnormals unless .ftz flushes sources and results to zero of the same sign; .sat
// clamps to [0, 1] and NaN to +0; single-precision NaN results are unspecified (devices give 0x7fffffff, and so
// do we); double-precision instructions keep NaN payloads. Which source's payload wins is not written down: here
// the kernel says which, made quiet, on every CPU alike, as an H200 was seen to do; and 0xfff8000000000000 for a NaN
// that is born.
#ifndef GR_VM_ALU_ALU_FP_H
#define GR_VM_ALU_ALU_FP_H

#include "vm/alu/alu_half.h"
#include "vm/alu/alu_kernel.h"

#include <math.h>
#ifndef __x86_64__
#include <fenv.h>
#endif

// Directed rounding for the code up to restore_rounding. Loads, arithmetic and stores of a kernel stay between
// the two because both clobber memory.
INLINE unsigned set_rounding(unsigned flags) {
    if ((flags & ALU_ROUNDING) == ALU_RN)
        return 0;
#ifdef __x86_64__
    static const unsigned char mode[4] = {0, 3, 1, 2}; // MXCSR.RC: nearest, down, up, truncate
    unsigned old, new;
    __asm__ volatile("stmxcsr %0" : "=m"(old) : : "memory");
    new = (old & ~0x6000u) | (unsigned)mode[flags & ALU_ROUNDING] << 13;
    __asm__ volatile("ldmxcsr %0" : : "m"(new) : "memory");
    return old;
#else
    static const int mode[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    unsigned old = (unsigned)fegetround();
    fesetround(mode[flags & ALU_ROUNDING]);
    __asm__ volatile("" : : : "memory");
    return old;
#endif
}
INLINE void restore_rounding(unsigned flags, unsigned old) {
    if ((flags & ALU_ROUNDING) == ALU_RN)
        return;
#ifdef __x86_64__
    __asm__ volatile("ldmxcsr %0" : : "m"(old) : "memory");
#else
    __asm__ volatile("" : : : "memory");
    fesetround((int)old);
#endif
}

INLINE VF32 in32(VF32 x, unsigned f) { return f & ALU_FTZ ? flush32(x) : x; }
INLINE VF32 out32(VF32 r, unsigned f) {
    if (f & ALU_FTZ)
        r = flush32(r);
    if (f & ALU_SAT) {
        r = BLEND(VF32, r > 1.0f, SPLAT(VF32, 1.0f), r);
        VU32 u = (VU32)r & (VU32)(r > 0.0f); // negative, -0 and NaN to +0
        return (VF32)u;
    }
    return BLEND(VF32, r == r, r, SPLAT(VU32, 0x7fffffffu));
}

INLINE bool any64(VS64 m) {
    uint64_t any = 0;
#if defined(ALU_AVX512)
    any = _mm512_movepi64_mask((__m512i)m);
#elif defined(ALU_AVX2)
    any = (unsigned)_mm256_movemask_pd((__m256d)m);
#else
    for (unsigned l = 0; l < L64; l++)
        any |= (uint64_t)m[l];
#endif
    return any != 0;
}
// NaN results: the payload of the first NaN among a, b, c.
INLINE VF64 nan64(VF64 r, VF64 a, VF64 b, VF64 c) {
    VS64 bad = r != r;
    if (__builtin_expect(!any64(bad), 1))
        return r;
    VU64 quiet = SPLAT(VU64, 0x0008000000000000u), nan = SPLAT(VU64, 0xfff8000000000000u);
    nan = BLEND(VU64, c != c, (VU64)c | quiet, nan);
    nan = BLEND(VU64, b != b, (VU64)b | quiet, nan);
    nan = BLEND(VU64, a != a, (VU64)a | quiet, nan);
    return BLEND(VF64, bad, nan, r);
}

INLINE VF32 fma32(VF32 a, VF32 b, VF32 c) {
#if defined(ALU_AVX512)
    return (VF32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(ALU_AVX2)
    return (VF32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    for (unsigned l = 0; l < L32; l++)
        a[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return a;
#endif
}
INLINE VF64 fma64(VF64 a, VF64 b, VF64 c) {
#if defined(ALU_AVX512)
    return (VF64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(ALU_AVX2)
    return (VF64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    for (unsigned l = 0; l < L64; l++)
        a[l] = __builtin_fma(a[l], b[l], c[l]);
    return a;
#endif
}
INLINE VF32 sqrt32(VF32 a) {
#if defined(ALU_AVX512)
    return (VF32)_mm512_sqrt_ps((__m512)a);
#elif defined(ALU_AVX2)
    return (VF32)_mm256_sqrt_ps((__m256)a);
#else
    for (unsigned l = 0; l < L32; l++)
        a[l] = __builtin_sqrtf(a[l]);
    return a;
#endif
}
INLINE VF64 sqrt64(VF64 a) {
#if defined(ALU_AVX512)
    return (VF64)_mm512_sqrt_pd((__m512d)a);
#elif defined(ALU_AVX2)
    return (VF64)_mm256_sqrt_pd((__m256d)a);
#else
    for (unsigned l = 0; l < L64; l++)
        a[l] = __builtin_sqrt(a[l]);
    return a;
#endif
}

#endif
