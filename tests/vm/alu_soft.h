// SPDX-License-Identifier: Apache-2.0
// alu_soft — floating-point arithmetic on integers, as a reference for the CPU device's: a number is an integer of up
// to 127 bits times a power of two, operations are exact or leave a sticky last bit, and one function rounds into any
// format in any mode. Slow, and nothing in common with what it checks.
#ifndef GR_TEST_ALU_SOFT_H
#define GR_TEST_ALU_SOFT_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 Wide;

typedef struct Format {
    const char *name;
    int bits, fraction, min_exponent;
    uint64_t max_finite, infinity, nan; // codes without sign; infinity 0: none
} Format;

typedef enum NumKind { NUM_ZERO, NUM_FINITE, NUM_INFINITE, NUM_NAN } NumKind;
typedef struct Num {
    NumKind kind;
    bool negative;
    Wide m; // value m * 2^e
    int e;
} Num;

typedef enum Rounding { TO_NEAREST, TO_ZERO, DOWN, UP, NEAREST_AWAY } Rounding;

const Format *soft_format(const char *name); // "f16", "bf16", "tf32", "f32", "f64", "e4m3", …; NULL if none
Num soft_decode(const Format *f, uint64_t code);
uint64_t soft_encode(const Format *f, Num x, Rounding mode, bool saturate);

Num soft_integer(Wide magnitude, bool negative);
Num soft_add(Num a, Num b, Rounding mode); // the mode decides the sign of an exact zero
Num soft_mul(Num a, Num b);
Num soft_div(Num a, Num b);
Num soft_sqrt(Num a);
Num soft_negate(Num a);
int soft_compare(Num a, Num b); // -1, 0, 1; 2 when unordered
// To an integral value, in mode TO_NEAREST, TO_ZERO, DOWN or UP.
Num soft_integral(Num a, Rounding mode);

#endif
