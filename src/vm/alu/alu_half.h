// SPDX-License-Identifier: Apache-2.0
// alu_half — 16-bit floating-point formats by integer arithmetic: f16 (5 bits of exponent, 10 of fraction) and
// bf16 (8 and 7, the upper half of an f32). Written so that loops over them vectorize. NaN results are the
// canonical 0x7fff (PTX ISA 9.7.4: "unspecified NaN"; that is what devices give).
#ifndef GR_VM_ALU_ALU_HALF_H
#define GR_VM_ALU_ALU_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HALF_INLINE static inline __attribute__((always_inline, unused))

HALF_INLINE uint32_t float_bits(float f) {
    return ((union {
               float f;
               uint32_t u;
           }){.f = f})
        .u;
}
HALF_INLINE float bits_float(uint32_t u) {
    return ((union {
               uint32_t u;
               float f;
           }){.u = u})
        .f;
}
HALF_INLINE uint64_t double_bits(double d) {
    return ((union {
               double d;
               uint64_t u;
           }){.d = d})
        .u;
}
HALF_INLINE double bits_double(uint64_t u) {
    return ((union {
               uint64_t u;
               double d;
           }){.u = u})
        .d;
}

// The exponent is rebiased by a multiplication, which also normalizes subnormals.
HALF_INLINE float float_of_f16(uint16_t h) {
    uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t finite = float_bits(bits_float(magnitude) * 0x1p112f);
    uint32_t special = magnitude >= 0x0f800000 ? 0x7f800000 : 0;
    return bits_float(finite | special | sign);
}

// Round to nearest even. Subnormal results: adding 0.5, whose last place is 2^-24, rounds for us.
HALF_INLINE uint16_t f16_of_float(float f) {
    uint32_t bits = float_bits(f), a = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    uint32_t subnormal = float_bits(bits_float(a) + 0.5f) - 0x3f000000;
    uint32_t normal = (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t r = a < 0x38800000 ? subnormal : normal;
    r = a >= 0x47800000 ? 0x7c00 : r;
    return (uint16_t)(a > 0x7f800000 ? 0x7fff : (r | sign));
}

HALF_INLINE float float_of_bf16(uint16_t h) { return bits_float((uint32_t)h << 16); }

HALF_INLINE uint16_t bf16_of_float(float f) {
    uint32_t a = float_bits(f), r = (a + 0x7fff + (a >> 16 & 1)) >> 16;
    return (uint16_t)((a & 0x7fffffff) > 0x7f800000 ? 0x7fff : r);
}

#endif
