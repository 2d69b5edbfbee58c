// SPDX-License-Identifier: Apache-2.0
// alu_round — the conversions that programs are full of, in a form that vectorizes: rounding f32 and f64 to integral
// values, and to 32-bit integers. alu_cvt.c has the general form and the rules (PTX ISA 9.7.9.21).

#include "vm/alu/alu_cvt.h"
#include "vm/alu/alu_fp.h"

// Adding and subtracting 2^23 (2^52) rounds the magnitude to nearest even; a step corrects for the other modes.
#define INTEGRAL(name, F, limit, bits_of, of_bits, U, sign_bit)                                              \
    INLINE F name(F x, unsigned mode) {                                                                      \
        U sign = bits_of(x) & sign_bit;                                                                      \
        F a = of_bits(bits_of(x) & ~sign_bit), r = (a + limit) - limit;                                      \
        bool outward = mode == ALU_RMI ? sign != 0 : sign == 0; /* .rmi and .rpi: away from zero */          \
        F down = r > a ? r - 1 : r, up = r < a ? r + 1 : r;                                                  \
        r = mode == ALU_RNI ? r : mode == ALU_RZI || !outward ? down : up;                                   \
        return a < limit ? of_bits(bits_of(r) | sign) : x;                                                   \
    }
INTEGRAL(integral32, float, 0x1p23f, float_bits, bits_float, uint32_t, 0x80000000u)
INTEGRAL(integral64, double, 0x1p52, double_bits, bits_double, uint64_t, ((uint64_t)1 << 63))

// For integral values; out of range clamps, NaN is 0 from f32 and the most negative integer from f64.
#define TO_S32(x, min, max, nan)                                                                             \
    ((x) >= max ? INT32_MAX : (x) >= min ? (int32_t)(x) : (x) < min ? INT32_MIN : nan)
// Goes by int32_t, which has vector instructions everywhere.
#define TO_U32(F, two31, nan)                                                                                \
    F c = x > 0 && x < 2 * two31 ? x : 0;                                                                    \
    bool high = c >= two31;                                                                                  \
    uint32_t r = (uint32_t)(int32_t)(high ? c - two31 : c) ^ (high ? 0x80000000 : 0);                        \
    r = x >= 2 * two31 ? UINT32_MAX : r;                                                                     \
    return x == x ? r : nan;
INLINE uint32_t u32_of_float(float x){TO_U32(float, 0x1p31f, 0)} INLINE uint32_t
    u32_of_double(double x){TO_U32(double, 0x1p31, 0x80000000)}

// Conversion to an integer truncates by itself.
#define WHOLE32(x, mode) ((mode) == ALU_RZI ? (x) : integral32(x, mode))
#define WHOLE64(x, mode) ((mode) == ALU_RZI ? (x) : integral64(x, mode))

#define MODE(name, mode)                                                                                     \
    ALU_S1(cvt_##name, f64_f64, double, double, a == a ? integral64(a, mode) : a + a) /* quiet */            \
    ALU_S1(cvt_##name, s32_f32, int32_t, float, TO_S32(WHOLE32(a, mode), -0x1p31f, 0x1p31f, 0))              \
    ALU_S1(cvt_##name, u32_f32, uint32_t, float, u32_of_float(WHOLE32(a, mode)))                             \
    ALU_S1(cvt_##name, s32_f64, int32_t, double, TO_S32(WHOLE64(a, mode), -0x1p31, 0x1p31, INT32_MIN))       \
    ALU_S1(cvt_##name, u32_f64, uint32_t, double, u32_of_double(WHOLE64(a, mode)))                           \
    ALU_BODY(k_cvt_##name##_f32_f32) {                                                                       \
        float r[VM_LANES] __attribute__((aligned(64)));                                                      \
        for (unsigned l = 0; l < VM_LANES; l++)                                                              \
            r[l] = integral32(LANE(float, i->a), mode);                                                      \
        for (unsigned k = 0; k < N32; k++)                                                                   \
            PUT32(out32(((VF32 *)r)[k], 0));                                                                 \
    }                                                                                                        \
    ALU_HANDLER(k_cvt_##name##_f32_f32)
#define MODES(X) X(rni, ALU_RNI) X(rzi, ALU_RZI) X(rmi, ALU_RMI) X(rpi, ALU_RPI)
MODES(MODE)

    // tf32 is f32 with 13 bits of fraction less; ties away from zero is an addition below the last place; NaN is cut.
    ALU_S1(cvt_rna, tf32_f32, uint32_t, uint32_t,
           ((a & 0x7fffffff) >= 0x7f800000 ? a : a + 0x1000) & 0xffffe000)

        static const AluKernel rows[] = {
// clang-format off
#define MODE_ROWS(name, mode)                                                                                  \
    ALU_ROW(cvt_##name, f64_f64) ALU_ROW(cvt_##name, s32_f32) ALU_ROW(cvt_##name, u32_f32)                     \
    ALU_ROW(cvt_##name, s32_f64) ALU_ROW(cvt_##name, u32_f64) ALU_ROW(cvt_##name, f32_f32)
    ALU_ROW(cvt_rna, tf32_f32) MODES(MODE_ROWS)
            // clang-format on
};
ALU_EXPORT(round);
