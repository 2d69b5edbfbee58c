// SPDX-License-Identifier: Apache-2.0
// alu_pack — rounding of a real number into a small floating-point format, exactly, in any rounding mode. The
// number comes as a double, in which every f16, bf16, f32, fp8 value and every 32-bit integer is exact; for wider
// sources double_of_* round to odd, which keeps a second rounding correct (the last place of the double is sticky
// and far below the last place of the format).
#ifndef GR_VM_ALU_ALU_PACK_H
#define GR_VM_ALU_ALU_PACK_H

#include "vm/alu/alu.h"
#include "vm/alu/alu_half.h"

// A format: sign above the exponent, exponent above `fraction` bits, IEEE subnormals. Codes are without sign.
typedef struct AluFormat {
    int fraction, min_exponent;               // of a normal number
    uint32_t max_finite, infinity, nan, sign; // infinity 0: the format has none
} AluFormat;

#define ALU_FMT_F16  ((AluFormat){10, -14, 0x7bff, 0x7c00, 0x7fff, 0x8000})
#define ALU_FMT_BF16 ((AluFormat){7, -126, 0x7f7f, 0x7f80, 0x7fff, 0x8000})
#define ALU_FMT_F32  ((AluFormat){23, -126, 0x7f7fffff, 0x7f800000, 0x7fffffff, 0x80000000})
#define ALU_FMT_TF32 ((AluFormat){10, -126, 0x3fbff, 0x3fc00, 0x3ffff, 0x40000}) // then shifted up by 13
#define ALU_FMT_E4M3 ((AluFormat){3, -6, 0x7e, 0, 0x7f, 0x80})
#define ALU_FMT_E5M2 ((AluFormat){2, -14, 0x7b, 0x7c, 0x7f, 0x80})
#define ALU_FMT_E2M3 ((AluFormat){3, 0, 0x1f, 0, 0x1f, 0x20}) // no NaN: the largest number stands for it
#define ALU_FMT_E3M2 ((AluFormat){2, -2, 0x1f, 0, 0x1f, 0x20})
#define ALU_FMT_E2M1 ((AluFormat){1, 0, 0x7, 0, 0x7, 0x8})

HALF_INLINE uint32_t alu_pack(double x, AluFormat fmt, uint64_t flags) {
    uint64_t bits = double_bits(x), fraction = bits & 0xfffffffffffff;
    uint32_t sign = bits >> 63 ? fmt.sign : 0;
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff && fraction)
        return flags & ALU_SAT ? 0 : fmt.nan;
    if (sign && flags & (ALU_RELU | ALU_SAT))
        return 0;
    if (flags & ALU_SAT && x > 1)
        bits = double_bits(x = 1), fraction = 0, exponent = 1023;
    bool saturate = flags & ALU_SATFINITE || !fmt.infinity;
    if (exponent == 0x7ff)
        return sign | (saturate ? fmt.max_finite : fmt.infinity);
    uint64_t m = exponent ? fraction | (uint64_t)1 << 52 : fraction; // the number is m * 2^(e - 52)
    int e = exponent ? exponent - 1023 : -1022;
    // One unit in the last place of the result is 2^unit.
    int unit = (e > fmt.min_exponent ? e : fmt.min_exponent) - fmt.fraction, shift = unit - (e - 52);
    uint64_t kept = shift > 63 ? 0 : m >> shift;
    uint64_t rest = shift > 63 ? (m ? 1 : 0) : m & (((uint64_t)1 << shift) - 1);
    uint64_t half = shift > 63 ? 2 : (uint64_t)1 << shift >> 1;
    bool up;
    if (flags & ALU_RNA)
        up = rest >= half && rest;
    else
        switch (flags & ALU_ROUNDING) {
        case ALU_RN: up = rest > half || (rest == half && rest && kept & 1); break;
        case ALU_RZ: up = false; break;
        case ALU_RM: up = rest && sign; break;
        default: up = rest && !sign; break;
        }
    kept += up;
    // The implicit bit of a normal number adds one to the exponent field, a carry out of the fraction another.
    uint32_t biased = e > fmt.min_exponent ? (uint32_t)(e - fmt.min_exponent) : 0;
    uint64_t code = ((uint64_t)biased << fmt.fraction) + kept;
    if (code > fmt.max_finite) {
        bool inward = !(flags & ALU_RNA) && ((flags & ALU_ROUNDING) == ALU_RZ ||
                                             (flags & ALU_ROUNDING) == (sign ? ALU_RP : ALU_RM));
        code = saturate || inward ? fmt.max_finite : fmt.infinity;
    }
    return sign | (uint32_t)code;
}

// A value of a format as a double, for the formats without their own fast conversion.
HALF_INLINE double alu_unpack(uint32_t code, AluFormat fmt) {
    uint32_t magnitude = code & (fmt.sign - 1), f = magnitude & ((1u << fmt.fraction) - 1);
    int biased = (int)(magnitude >> fmt.fraction);
    double r;
    if (magnitude > fmt.max_finite) {
        r = fmt.infinity && magnitude == fmt.infinity ? __builtin_inf() : __builtin_nan("");
    } else {
        int e = biased ? biased - 1 + fmt.min_exponent : fmt.min_exponent;
        double unit = bits_double((uint64_t)(e - fmt.fraction + 1023) << 52);
        r = (double)(biased ? f | 1u << fmt.fraction : f) * unit;
    }
    return code & fmt.sign ? -r : r;
}

// 64-bit integers, rounded to odd where 53 bits are not enough.
HALF_INLINE double double_of_u64(uint64_t x) {
    if (x >> 53)
        x = (x >> 11 | ((x & 0x7ff) != 0)) << 11;
    return (double)x;
}
HALF_INLINE double double_of_s64(int64_t x) {
    return x < 0 ? -double_of_u64(0 - (uint64_t)x) : double_of_u64((uint64_t)x);
}

#endif
