// SPDX-License-Identifier: Apache-2.0
// alu_16 — one lane of f16 and bf16 arithmetic: sources are widened, the operation is done in float or double so
// exactly that rounding its result once more gives what one rounding would have given, and the result is narrowed.
//
// Sums of either format and products of f16 in float: 24 bits are at least 2p + 2, and no sum or f16 product falls
// below float's normal range unless it is exact, so double rounding is harmless (Figueroa). Products of bf16 do fall
// below it, and fused operations need more bits: they are formed in double and rounded to odd on the way down.
#ifndef GR_VM_ALU_ALU_16_H
#define GR_VM_ALU_ALU_16_H

#include "vm/alu/alu_fp.h"
#include "vm/alu/alu_math.h"

// ---- Rounding to odd -------------------------------------------------------------------------------------

// d as a float whose last bit is set when d did not fit.
INLINE float to_odd(double d) {
    float f = (float)d;
    double back = (double)f;
    uint32_t u = float_bits(f);
    double a = bits_double(double_bits(d) & ~((uint64_t)1 << 63)),
           b = bits_double(double_bits(back) & ~((uint64_t)1 << 63));
    u += (uint32_t)(b < a && !(u & 1));
    u -= (uint32_t)(b > a && !(u & 1));
    return bits_float(u);
}

// p + c, rounded to odd; the error of the sum is exact (Knuth's two-sum).
INLINE double add_odd(double p, double c) {
    double s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
    uint64_t u = double_bits(s);
    bool outward = (error > 0) == (s > 0), inexact = error > 0 || error < 0;
    u += (uint64_t)(inexact && outward && !(u & 1));
    u -= (uint64_t)(inexact && !outward && !(u & 1));
    return bits_double(u);
}

// ---- The two formats -------------------------------------------------------------------------------------

INLINE float load_f16(uint16_t h, unsigned f) {
    return float_of_f16(f & ALU_FTZ && !(h & 0x7c00) ? h & 0x8000 : h);
}
INLINE float load_bf16(uint16_t h, unsigned f) {
    return float_of_bf16(f & ALU_FTZ && !(h & 0x7f80) ? h & 0x8000 : h);
}
// .sat to [0, 1], NaN to 0; .relu negative to 0, NaN stays.
INLINE float limit(float r, unsigned f) {
    if (f & ALU_SAT)
        r = r > 0 ? r < 1 ? r : 1 : 0;
    if (f & ALU_RELU)
        r = r > 0 || r != r ? r : 0;
    return r;
}
INLINE uint16_t store_f16(float r, unsigned f) {
    uint16_t h = f16_of_float(limit(r, f));
    return f & ALU_FTZ && !(h & 0x7c00) ? h & 0x8000 : h;
}
INLINE uint16_t store_bf16(float r, unsigned f) {
    uint16_t h = bf16_of_float(limit(r, f));
    return f & ALU_FTZ && !(h & 0x7f80) ? h & 0x8000 : h;
}

// ---- Operations ------------------------------------------------------------------------------------------

INLINE float do_add(float a, float b, unsigned f) { return (void)f, a + b; }
INLINE float do_sub(float a, float b, unsigned f) { return (void)f, a - b; }
INLINE float do_mul(float a, float b, unsigned f) { return (void)f, to_odd((double)a * (double)b); }
INLINE float do_fma(float a, float b, float c, unsigned f) {
    return (void)f, to_odd(add_odd((double)a * (double)b, (double)c));
}
INLINE float do_neg(float a, unsigned f) { return (void)f, bits_float(float_bits(a) ^ 0x80000000); }
INLINE float do_abs(float a, unsigned f) { return (void)f, bits_float(float_bits(a) & 0x7fffffff); }
INLINE float do_ex2(float a, unsigned f) { return (void)f, alu_ex2(a); }
INLINE float do_tanh(float a, unsigned f) { return (void)f, alu_tanh(a); }

// Follows f32's rules (alu_float.c): a number beats NaN unless .NaN, -0 is less than +0.
INLINE float minmax(float a, float b, unsigned f, bool is_max) {
    uint32_t x = float_bits(a), y = float_bits(b), sign = (x ^ y) & 0x80000000;
    if (f & (ALU_XORSIGN | ALU_ABS)) {
        a = bits_float(x &= 0x7fffffff);
        b = bits_float(y &= 0x7fffffff);
    }
    bool first = (is_max ? a > b : a < b) || b != b;
    uint32_t r = a == b ? (is_max ? x & y : x | y) : first ? x : y;
    if (f & ALU_NAN && (a != a || b != b))
        r = 0x7fffffff;
    return bits_float(f & ALU_XORSIGN ? r | sign : r);
}
INLINE float do_min(float a, float b, unsigned f) { return minmax(a, b, f, false); }
INLINE float do_max(float a, float b, unsigned f) { return minmax(a, b, f, true); }

#define OF1(op, fmt, a, f)    store_##fmt(do_##op(load_##fmt(a, f), f), f)
#define OF2(op, fmt, a, b, f) store_##fmt(do_##op(load_##fmt(a, f), load_##fmt(b, f), f), f)
#define OF3(op, fmt, a, b, c, f)                                                                             \
    store_##fmt(do_##op(load_##fmt(a, f), load_##fmt(b, f), load_##fmt(c, f), f), f)
#define LO(x)        ((uint16_t)(x))
#define HI(x)        ((uint16_t)((x) >> 16))
#define PACK(lo, hi) ((uint32_t)(lo) | (uint32_t)(hi) << 16)

#endif
