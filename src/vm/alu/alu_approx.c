// SPDX-License-Identifier: Apache-2.0
// alu_approx — the approximate functions of f32 (sin, cos, lg2, ex2, tanh, rsqrt) and of f64 (rcp, rsqrt).

#include "vm/alu/alu_fp.h"
#include "vm/alu/alu_math.h"

// Beyond the reach of the reduction in alu_sine the C library helps out: one such argument is rare.
static double far_sine(double x, int quarter) { return quarter ? cos(x) : sin(x); }
INLINE void sines(const float *x, float *r, int quarter) {
    unsigned far = 0;
    for (unsigned l = 0; l < VM_LANES; l++) {
        far |= (float_bits(x[l]) & 0x7fffffff) > 0x49000000; // above 2^19, or NaN
        r[l] = (float)alu_sine((double)x[l], quarter);
        r[l] = x[l] == 0 && !quarter ? x[l] : r[l]; // -0 stays
    }
    if (__builtin_expect(far != 0, 0))
        for (unsigned l = 0; l < VM_LANES; l++)
            if ((float_bits(x[l]) & 0x7fffffff) > 0x49000000)
                r[l] = (float)far_sine((double)x[l], quarter);
}
INLINE void do_sin(const float *x, float *r) { sines(x, r, 0); }
INLINE void do_cos(const float *x, float *r) { sines(x, r, 1); }
#define EACH(name, fn)                                                                                       \
    INLINE void do_##name(const float *x, float *r) {                                                        \
        for (unsigned l = 0; l < VM_LANES; l++)                                                              \
            r[l] = fn(x[l]);                                                                                 \
    }
EACH(lg2, alu_lg2)
EACH(ex2, alu_ex2)
EACH(tanh, alu_tanh)
// One step of Newton's in double brings the quotient of two roundings to within 2^-40; not from zero or infinity.
INLINE float rsqrt_lane(float x) {
    float y = 1.0f / __builtin_sqrtf(x);
    double d = (double)y, r = d + d * (1 - (double)x * d * d) * 0.5;
    return y > 0 && y < __builtin_inff() ? (float)r : y;
}
EACH(rsqrt, rsqrt_lane)

#define APPROX_KERNEL(name, fn, flags)                                                                       \
    ALU_BODY(k_##name) {                                                                                     \
        float x[VM_LANES] __attribute__((aligned(64))), r[VM_LANES] __attribute__((aligned(64)));            \
        for (unsigned k = 0; k < N32; k++)                                                                   \
            ((VF32 *)x)[k] = in32(GET(VF32, i->a, k), flags);                                                \
        fn(x, r);                                                                                            \
        for (unsigned k = 0; k < N32; k++)                                                                   \
            PUT32(out32(((VF32 *)r)[k], flags));                                                             \
    }                                                                                                        \
    ALU_HANDLER(k_##name)
#define FUNCTIONS(X) X(sin) X(cos) X(lg2) X(ex2) X(tanh) X(rsqrt)
#define KERNELS(op)  APPROX_KERNEL(op##_f32, do_##op, 0) APPROX_KERNEL(op##_ftz_f32, do_##op, ALU_FTZ)
FUNCTIONS(KERNELS)

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 work on the upper halves of their operands: 20 bits of fraction.
// Subnormals are zeros; NaN is canonical (9.7.3.15, 9.7.3.19).
INLINE uint64_t upper_half(double r) {
    uint64_t u = double_bits(r);
    if (r != r)
        return 0x7fffffff00000000;
    return u & 0x7ff0000000000000 ? u & 0xffffffff00000000 : u & 0x8000000000000000;
}
INLINE double upper_operand(uint64_t u) {
    if (!(u & 0x7ff0000000000000))
        return bits_double(u & 0x8000000000000000);
    return bits_double(u & 0xffffffff00000000); // NaN by its lower half alone is an infinity
}
ALU_S1(rcp_gross, f64, uint64_t, uint64_t, upper_half(1.0 / upper_operand(a)))
ALU_S1(rsqrt_gross, f64, uint64_t, uint64_t, upper_half(1.0 / __builtin_sqrt(upper_operand(a))))
ALU_BODY(k_rsqrt_f64) {
    for (unsigned k = 0; k < N64; k++) {
        VF64 a = GET(VF64, i->a, k);
        PUT64(nan64(1.0 / sqrt64(a), a, a, a));
    }
}
ALU_HANDLER(k_rsqrt_f64)

static const AluKernel rows[] = {
// clang-format off
#define ROWS(op) ALU_ROW(op, f32) ALU_ROW(op##_ftz, f32)
    FUNCTIONS(ROWS) ALU_ROW(rcp_gross, f64) ALU_ROW(rsqrt_gross, f64) ALU_ROW(rsqrt, f64)
    // clang-format on
};
ALU_EXPORT(approx);
