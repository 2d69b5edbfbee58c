// SPDX-License-Identifier: Apache-2.0
// alu_float — f32 and f64 arithmetic with every rounding mode: the operations of alu_float.def, and the few that
// work on bits.

#include "vm/alu/alu_fp.h"

// Minimum and maximum (PTX ISA 9.7.3.12, .13): of a NaN and a number the number, unless .NaN; -0 is less than
// +0. Equal operands differ in nothing but the sign of zero, which | and & order.
INLINE VF32 minmax32(VF32 a, VF32 b, unsigned f, bool is_max) {
    VU32 sign = ((VU32)a ^ (VU32)b) & 0x80000000;
    if (f & (ALU_XORSIGN | ALU_ABS)) {
        a = (VF32)((VU32)a & 0x7fffffff);
        b = (VF32)((VU32)b & 0x7fffffff);
    }
    VS32 first = (is_max ? a > b : a < b) | (b != b);
    VU32 r = BLEND(VU32, first, a, b);
    r = BLEND(VU32, a == b, is_max ? (VU32)a & (VU32)b : (VU32)a | (VU32)b, r);
    if (f & ALU_NAN)
        r = BLEND(VU32, (a != a) | (b != b), SPLAT(VU32, 0x7fffffffu), r);
    if (f & ALU_XORSIGN)
        r |= sign;
    return (VF32)r;
}
#define min32(a, b, f) minmax32(a, b, f, false)
#define max32(a, b, f) minmax32(a, b, f, true)

INLINE VF64 minmax64(VF64 a, VF64 b, bool is_max) {
    VS64 first = (is_max ? a > b : a < b) | (b != b);
    VU64 r = BLEND(VU64, first, a, b);
    return (VF64)BLEND(VU64, a == b, is_max ? (VU64)a & (VU64)b : (VU64)a | (VU64)b, r);
}
#define min64(a, b) minmax64(a, b, false)
#define max64(a, b) minmax64(a, b, true)

// div.approx: the quotient, but for a divisor above 2^126, whose reciprocal underflows, zero or (from infinity)
// NaN; PTX ISA 9.7.3.8.
INLINE VF32 div_approx(VF32 a, VF32 b) {
    VU32 size = (VU32)b & 0x7fffffff, sign = ((VU32)a ^ (VU32)b) & 0x80000000;
    VS32 big = ((VS32)size > 0x7e800000) & ((VS32)size < 0x7f800000);
    VF32 tiny = (VF32)sign * a; // zero times a: zero, or NaN when a is infinite or NaN
    tiny = BLEND(VF32, tiny == tiny, sign, tiny);
    return BLEND(VF32, big, tiny, a / b);
}

// ---- Kernels of the table --------------------------------------------------------------------------------

// W and N say how many vectors the register has: 32 for f32, 64 for f32x2, whose floats lie side by side.
#define FLOAT_KERNEL(name, W, flags, load, expr)                                                             \
    ALU_BODY(k_##name) {                                                                                     \
        unsigned f = (unsigned)(flags), old = set_rounding(f);                                               \
        for (unsigned k = 0; k < N##W; k++) {                                                                \
            load PUT##W(out32(expr, f));                                                                     \
        }                                                                                                    \
        restore_rounding(f, old);                                                                            \
    }                                                                                                        \
    ALU_HANDLER(k_##name)
#define LOAD1 VF32 a = in32(GET(VF32, i->a, k), f);
#define LOAD2 LOAD1 VF32 b = in32(GET(VF32, i->b, k), f);
#define LOAD3 LOAD2 VF32 c = in32(GET(VF32, i->c, k), f);
#define FLOAT_KERNELS(op, load, expr)                                                                        \
    FLOAT_KERNEL(op##_f32, 32, 0, load, expr)                                                                \
    FLOAT_KERNEL(op##_ftz_f32, 32, ALU_FTZ, load, expr)                                                      \
    FLOAT_KERNEL(op##_any_f32, 32, i->imm, load, expr)

#define DOUBLE_KERNEL(name, flags, load, expr, x, y, z)                                                      \
    ALU_BODY(k_##name) {                                                                                     \
        unsigned f = (unsigned)(flags), old = set_rounding(f);                                               \
        for (unsigned k = 0; k < N64; k++) {                                                                 \
            load PUT64(nan64(expr, x, y, z));                                                                \
        }                                                                                                    \
        restore_rounding(f, old);                                                                            \
    }                                                                                                        \
    ALU_HANDLER(k_##name)
#define DLOAD1 VF64 a = GET(VF64, i->a, k);
#define DLOAD2 DLOAD1 VF64 b = GET(VF64, i->b, k);
#define DLOAD3 DLOAD2 VF64 c = GET(VF64, i->c, k);
#define DOUBLE_KERNELS(op, load, expr, x, y, z)                                                              \
    DOUBLE_KERNEL(op##_f64, 0, load, expr, x, y, z)                                                          \
    DOUBLE_KERNEL(op##_any_f64, i->imm, load, expr, x, y, z)

#define F1(op, expr) FLOAT_KERNELS(op, LOAD1, expr)
#define F2(op, expr) FLOAT_KERNELS(op, LOAD2, expr)
#define F3(op, expr) FLOAT_KERNELS(op, LOAD3, expr)
#define D1(op, expr) DOUBLE_KERNELS(op, DLOAD1, expr, a, a, a)
#define D2(op, expr) DOUBLE_KERNELS(op, DLOAD2, expr, b, a, a)
#define E2(op, expr) DOUBLE_KERNELS(op, DLOAD2, expr, a, b, b)
#define D3(op, expr) DOUBLE_KERNELS(op, DLOAD3, expr, b, c, a)
#define Q2(op, expr) FLOAT_KERNEL(op##_any_f32x2, 64, i->imm, LOAD2, expr)
#define Q3(op, expr) FLOAT_KERNEL(op##_any_f32x2, 64, i->imm, LOAD3, expr)
#include "vm/alu/alu_float.def"
#undef F1
#undef F2
#undef F3
#undef D1
#undef D2
#undef D3
#undef E2
#undef Q2
#undef Q3

// ---- Bits ------------------------------------------------------------------------------------------------

// NaN keeps its sign and becomes quiet, as if added to a zero.
#define BUT_NAN(expr) BLEND(VU64, (VF64)a != (VF64)a, a | 0x0008000000000000, expr)
ALU_V1(neg, f64, 64, VU64, BUT_NAN(a ^ 0x8000000000000000))
ALU_V1(abs, f64, 64, VU64, BUT_NAN(a & 0x7fffffffffffffff))
// The sign of a on the magnitude of b (9.7.3.2).
ALU_V2(copysign, f32, 32, VU32, (a & 0x80000000) | (b & 0x7fffffff))
ALU_V2(copysign, f64, 64, VU64, (a & 0x8000000000000000) | (b & 0x7fffffffffffffff))

// testp (9.7.3.1): properties are sets of classes; imm is the set.
enum { ZERO = 1, SUBNORMAL = 2, NORMAL = 4, INFINITE = 8, NOT_A_NUMBER = 16 };
#define TESTP(type, T, exponent, fraction)                                                                   \
    INLINE void testp_##type(VmWarp *w, const VmInsn *i, uint64_t set, bool part) {                          \
        uint32_t bits = 0;                                                                                   \
        for (unsigned l = 0; l < VM_LANES; l++) {                                                            \
            T u = LANE(T, i->a), e = u & exponent, f = u & fraction;                                         \
            unsigned kind = e == exponent ? f ? NOT_A_NUMBER : INFINITE : e ? NORMAL : f ? SUBNORMAL : ZERO; \
            bits |= (uint32_t)((set & kind) != 0) << l;                                                      \
        }                                                                                                    \
        put_pred(w, i->d, bits, part);                                                                       \
    }
TESTP(f32, uint32_t, 0x7f800000u, 0x007fffffu)
TESTP(f64, uint64_t, 0x7ff0000000000000u, 0x000fffffffffffffu)
#define TESTP_KINDS(X)                                                                                       \
    X(finite, ZERO | SUBNORMAL | NORMAL)                                                                     \
    X(infinite, INFINITE)                                                                                    \
    X(number, ZERO | SUBNORMAL | NORMAL | INFINITE)                                                          \
    X(notanumber, NOT_A_NUMBER)                                                                              \
    X(normal, ZERO | NORMAL) /* zero, too: an H200 */                                                        \
    X(subnormal, SUBNORMAL)
#define TESTP_KERNEL(name, set)                                                                              \
    ALU_BODY(k_testp_##name##_f32) { testp_f32(w, i, set, part); }                                           \
    ALU_HANDLER(k_testp_##name##_f32)                                                                        \
    ALU_BODY(k_testp_##name##_f64) { testp_f64(w, i, set, part); }                                           \
    ALU_HANDLER(k_testp_##name##_f64)
TESTP_KINDS(TESTP_KERNEL)

static const AluKernel rows[] = {
    // clang-format off
    ALU_ROW(neg, f64) ALU_ROW(abs, f64) ALU_ROW(copysign, f32) ALU_ROW(copysign, f64)
#define ROW(name, set) ALU_ROW(testp_##name, f32) ALU_ROW(testp_##name, f64)
    TESTP_KINDS(ROW)
#define F1(op, expr) ALU_ROW(op, f32) ALU_ROW(op##_ftz, f32) ALU_ROW(op##_any, f32)
#define F2 F1
#define F3 F1
#define D1(op, expr) ALU_ROW(op, f64) ALU_ROW(op##_any, f64)
#define D2 D1
#define D3 D1
#define E2 D1
#define Q2(op, expr) ALU_ROW(op##_any, f32x2)
#define Q3 Q2
#include "vm/alu/alu_float.def"
    // clang-format on
};
ALU_EXPORT(float);
