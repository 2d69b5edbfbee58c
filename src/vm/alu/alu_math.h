// SPDX-License-Identifier: Apache-2.0
// alu_math — the approximate functions of PTX ISA 9.7.3.14 to .22, in double and without branches, so that loops
// over them vectorize. Only additions, multiplications and divisions, never contracted: every instruction set gives
// the same bits. Errors are below 2^-30 of the result (sine and cosine: of 1), so that after rounding to f32 they
// are far inside what the ISA allows.
#ifndef GR_VM_ALU_ALU_MATH_H
#define GR_VM_ALU_ALU_MATH_H

#include "vm/alu/alu_half.h"

#define ALU_MAGIC 0x1.8p52 // x + MAGIC has x rounded to an integer in its low bits

// 2^x. Beyond +-200 every f32 is infinite or zero already.
HALF_INLINE double alu_exp2(double x) {
    x = x > 200 ? 200 : x;
    x = x < -200 ? -200 : x;
    double shifted = x + ALU_MAGIC, f = (x - (shifted - ALU_MAGIC)) * 0.693147180559945309417;
    double p = 1.0 / 362880;
    p = p * f + 1.0 / 40320;
    p = p * f + 1.0 / 5040;
    p = p * f + 1.0 / 720;
    p = p * f + 1.0 / 120;
    p = p * f + 1.0 / 24;
    p = p * f + 1.0 / 6;
    p = p * f + 0.5;
    p = p * f + 1;
    p = p * f + 1;
    return p * bits_double((double_bits(shifted) + 1023) << 52);
}

// log2 of a positive normal double; the callers' special values are selected over it.
HALF_INLINE double alu_log2(double x) {
    uint64_t bits = double_bits(x), offset = bits - 0x3fe6a09e667f3bcdu; // from sqrt(1/2)
    double e = (double)(int32_t)((int64_t)offset >> 52);
    double m = bits_double(bits - (offset & 0xfff0000000000000u));
    double s = (m - 1) / (m + 1), z = s * s;
    double p = 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1;
    return e + s * p * 2.885390081777926814719; // 2 / ln 2
}

HALF_INLINE float alu_lg2(float x) {
    double r = alu_log2((double)(x > 0 ? x : 1));
    r = x == __builtin_inff() ? __builtin_inf() : r;
    r = x == 0 ? -__builtin_inf() : r;
    r = x >= 0 ? r : __builtin_nan("");
    return (float)r;
}

HALF_INLINE float alu_ex2(float x) {
    float r = (float)alu_exp2((double)x);
    return x == x ? r : x;
}

// Sine of x + quarter * pi/2, for |x| < 2^20: x is reduced by multiples of pi/2, of which the first part has 33
// bits, so that the products are exact.
HALF_INLINE double alu_sine(double x, int quarter) {
    double shifted = x * 0.636619772367581343076 + ALU_MAGIC, k = shifted - ALU_MAGIC;
    double r = (x - k * 0x1.921fb544p0) - k * 0x1.0b4611a626331p-34;
    uint64_t q = double_bits(shifted) + (uint64_t)quarter;
    double z = r * r;
    double s = -1.0 / 39916800;
    s = s * z + 1.0 / 362880;
    s = s * z - 1.0 / 5040;
    s = s * z + 1.0 / 120;
    s = s * z - 1.0 / 6;
    s = s * z * r + r;
    double c = 1.0 / 479001600;
    c = c * z - 1.0 / 3628800;
    c = c * z + 1.0 / 40320;
    c = c * z - 1.0 / 720;
    c = c * z + 1.0 / 24;
    c = c * z - 0.5;
    c = c * z + 1;
    uint64_t odd = 0 - (q & 1);
    uint64_t r_bits = (double_bits(c) & odd) | (double_bits(s) & ~odd);
    return bits_double(r_bits ^ (q & 2) << 62);
}

HALF_INLINE float alu_tanh(float x) {
    double a = (double)bits_float(float_bits(x) & 0x7fffffff);
    double r = 1 - 2 / (alu_exp2(a * 2.885390081777926814719) + 1); // e^2a is 2^(2a / ln 2)
    r = a < 1e-3 ? a - a * a * a / 3 : r;
    float y = (float)r;
    y = bits_float(float_bits(y) | (float_bits(x) & 0x80000000));
    return x == x ? y : x;
}

#endif
