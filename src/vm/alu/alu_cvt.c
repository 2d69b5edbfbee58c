// SPDX-License-Identifier: Apache-2.0
// alu_cvt — cvt between integers and floating-point formats, PTX ISA 9.7.9.21. A few common conversions have vector
// kernels; the rest go lane by lane through int64_t or double, which hold every source exactly (alu_pack.h).

#include "vm/alu/alu_cvt.h"
#include "vm/alu/alu_fp.h"
#include "vm/alu/alu_pack.h"

// ---- Integer to integer ----------------------------------------------------------------------------------

// The low `bits` of x as an integer.
INLINE uint64_t extend(uint64_t x, unsigned bits, bool is_signed) {
    unsigned s = 64 - bits;
    return is_signed ? (uint64_t)((int64_t)(x << s) >> s) : x << s >> s;
}
INLINE uint64_t int_to_int(uint64_t x, uint64_t imm) {
    x = extend(x, ALU_CVT_SRC_BITS(imm), ALU_CVT_SRC_SIGNED(imm));
    return extend(x, ALU_CVT_DST_BITS(imm), ALU_CVT_DST_SIGNED(imm));
}
INLINE uint64_t int_to_int_sat(uint64_t x, uint64_t imm) {
    unsigned bits = ALU_CVT_DST_BITS(imm);
    bool negative = ALU_CVT_SRC_SIGNED(imm);
    x = extend(x, ALU_CVT_SRC_BITS(imm), negative);
    negative = negative && (int64_t)x < 0;
    uint64_t max = ~(uint64_t)0 >> (64 - bits) >> ALU_CVT_DST_SIGNED(imm);
    if (!negative)
        return x > max ? max : x;
    if (!ALU_CVT_DST_SIGNED(imm))
        return 0;
    return (int64_t)x < -(int64_t)max - 1 ? (uint64_t)(-(int64_t)max - 1) : x;
}

#define INT_INT(A, D, aw, dw)                                                                                \
    ALU_S1(cvt_int, aw##_##dw, D, A, int_to_int(a, imm))                                                     \
    ALU_S1(cvt_int_sat, aw##_##dw, D, A, int_to_int_sat(a, imm))
#define INT_PAIRS(X)                                                                                         \
    X(uint16_t, uint16_t, 16, 16)                                                                            \
    X(uint16_t, uint32_t, 16, 32)                                                                            \
    X(uint16_t, uint64_t, 16, 64)                                                                            \
    X(uint32_t, uint16_t, 32, 16)                                                                            \
    X(uint32_t, uint32_t, 32, 32)                                                                            \
    X(uint32_t, uint64_t, 32, 64)                                                                            \
    X(uint64_t, uint16_t, 64, 16)                                                                            \
    X(uint64_t, uint32_t, 64, 32)                                                                            \
    X(uint64_t, uint64_t, 64, 64)
INT_PAIRS(INT_INT)

// Whole registers: extension by the source's sign, truncation.
#define EXTEND_64(name, H, widen)                                                                            \
    ALU_BODY(k_##name) {                                                                                     \
        for (unsigned k = 0; k < N64; k++)                                                                   \
            PUT64(widen(GET(H, i->a, k)));                                                                   \
    }                                                                                                        \
    ALU_HANDLER(k_##name)
EXTEND_64(extend_u32_64, HU32, widen_u32)
EXTEND_64(extend_s32_64, HS32, widen_s32)
ALU_BODY(k_truncate_b64_32) {
    for (unsigned k = 0; k < N32; k++) {
        VU32 lo = (VU32)GET(VU64, i->a, 2 * k), hi = (VU32)GET(VU64, i->a, 2 * k + 1);
#if VB == 64
        PUT32(__builtin_shufflevector(lo, hi, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
#elif VB == 32
        PUT32(__builtin_shufflevector(lo, hi, 0, 2, 4, 6, 8, 10, 12, 14));
#else
        PUT32(__builtin_shufflevector(lo, hi, 0, 2, 4, 6));
#endif
    }
}
ALU_HANDLER(k_truncate_b64_32)
ALU_S1(extend, u16_32, uint32_t, uint16_t, a)
ALU_S1(extend, s16_32, int32_t, int16_t, a)
ALU_S1(extend, u16_64, uint64_t, uint16_t, a)
ALU_S1(extend, s16_64, int64_t, int16_t, a)
ALU_S1(truncate, b32_16, uint16_t, uint32_t, a)
ALU_S1(truncate, b64_16, uint16_t, uint64_t, a)

// cvt.pack (9.7.9.22): two integers, saturated to n bits, over what is left of c.
INLINE uint32_t cvt_pack(int32_t a, int32_t b, uint32_t c, uint64_t imm) {
    unsigned n = ALU_CVT_DST_BITS(imm);
    uint64_t s32 = imm | (uint64_t)32 << 24 | (uint64_t)1 << 31;
    uint64_t mask = ((uint64_t)1 << n) - 1;
    uint64_t pair =
        (int_to_int_sat((uint32_t)a, s32) & mask) << n | (int_to_int_sat((uint32_t)b, s32) & mask);
    return (uint32_t)(pair | (n < 16 ? (uint64_t)c << 2 * n : 0));
}
ALU_L2(cvt_pack, 2, uint32_t, int32_t, int32_t, cvt_pack(a, b, 0, imm))
ALU_L3(cvt_pack, 3, uint32_t, int32_t, int32_t, uint32_t, cvt_pack(a, b, c, imm))

// ---- Sources and destinations in floating point ----------------------------------------------------------

INLINE double load_f16(uint16_t x, uint64_t imm) { return (void)imm, (double)float_of_f16(x); }
INLINE double load_bf16(uint16_t x, uint64_t imm) { return (void)imm, (double)float_of_bf16(x); }
INLINE double load_f32(uint32_t x, uint64_t imm) {
    if (imm & ALU_FTZ && !(x & 0x7f800000))
        x &= 0x80000000;
    if (imm & ALU_FTZ && (x & 0x7fffffff) > 0x7f800000)
        x = 0x7fffffff; // flushing computes, so the payload is gone
    return (double)bits_float(x);
}
INLINE double load_f64(uint64_t x, uint64_t imm) { return (void)imm, bits_double(x); }

INLINE uint16_t store_f16(double x, uint64_t imm) { return (uint16_t)alu_pack(x, ALU_FMT_F16, imm); }
INLINE uint16_t store_bf16(double x, uint64_t imm) { return (uint16_t)alu_pack(x, ALU_FMT_BF16, imm); }
INLINE uint32_t store_tf32(double x, uint64_t imm) {
    uint32_t r = alu_pack(x, ALU_FMT_TF32, imm) << 13;
    return (r & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : r;
}
// .rna only cuts NaN; and .satfinite takes what has the greatest exponent one place down.
INLINE uint32_t tf32_of_f32(uint32_t a, uint64_t imm) {
    if (imm & ALU_RNA && (a & 0x7f800000) == 0x7f800000)
        return (a & 0xffffe000) - (imm & ALU_SATFINITE ? 0x2000 : 0);
    return store_tf32(load_f32(a, imm), imm);
}
INLINE uint32_t store_f32(double x, uint64_t imm) {
    uint32_t r = alu_pack(x, ALU_FMT_F32, imm);
    return imm & ALU_FTZ && !(r & 0x7f800000) ? r & 0x80000000 : r;
}
INLINE uint64_t store_f64(double x, uint64_t imm) {
    if (imm & ALU_SAT)
        x = x > 0 ? x < 1 ? x : 1 : 0;
    return double_bits(x) | (uint64_t)(x != x) << 51; // quiet
}
// From f64: NaN keep their sign and what fits of their payload.
INLINE uint32_t nan_of_f64(double x, unsigned bits, unsigned fraction) {
    uint64_t u = double_bits(x), infinity = ((uint64_t)1 << (bits - 1)) - ((uint64_t)1 << fraction);
    return (uint32_t)(u >> 63 << (bits - 1) | infinity | (uint64_t)1 << (fraction - 1) |
                      (u & 0xfffffffffffff) >> (52 - fraction));
}
#define KEEPS_NAN(x, imm) ((x) != (x) && !((imm)&ALU_SAT))
INLINE uint16_t f16_of_f64(double x, uint64_t imm) {
    return KEEPS_NAN(x, imm) ? (uint16_t)nan_of_f64(x, 16, 10) : store_f16(x, imm);
}
INLINE uint16_t bf16_of_f64(double x, uint64_t imm) {
    return KEEPS_NAN(x, imm) ? (uint16_t)nan_of_f64(x, 16, 7) : store_bf16(x, imm);
}

// Rounding to an integral value. Not by the libm functions: without SSE4.1 they are calls. Adding and
// subtracting 2^52 rounds to nearest even.
INLINE double integral(double x, uint64_t imm) {
    unsigned mode = ALU_CVT_INTEGER(imm);
    double a = bits_double(double_bits(x) & ~((uint64_t)1 << 63));
    if (!mode || !(a < 0x1p52))
        return x;
    double r = a + 0x1p52;
    __asm__("" : "+m"(r)); // no reassociation, no excess precision
    r -= 0x1p52;
    bool negative = double_bits(x) >> 63;
    if (mode == ALU_RZI || (mode == ALU_RMI && !negative) || (mode == ALU_RPI && negative))
        r -= r > a ? 1 : 0;
    else if (mode != ALU_RNI)
        r += r < a ? 1 : 0;
    return bits_double(double_bits(r) | (double_bits(x) & (uint64_t)1 << 63));
}

#define FLOAT_FLOAT(src, A, dst, D)                                                                          \
    ALU_L1(cvt, dst##_##src, D, A, store_##dst(integral(load_##src(a, imm), imm), imm))
#define SOURCES(X, dst, D)                                                                                   \
    X(f16, uint16_t, dst, D) X(bf16, uint16_t, dst, D) X(f32, uint32_t, dst, D) X(f64, uint64_t, dst, D)
#define NARROW(X, dst, D) X(f16, uint16_t, dst, D) X(bf16, uint16_t, dst, D) X(f32, uint32_t, dst, D)
#define FLOAT_PAIRS(X)                                                                                       \
    NARROW(X, f16, uint16_t) NARROW(X, bf16, uint16_t) SOURCES(X, f32, uint32_t) SOURCES(X, f64, uint64_t)
FLOAT_PAIRS(FLOAT_FLOAT)
ALU_L1(cvt, tf32_f32, uint32_t, uint32_t, tf32_of_f32(a, imm))
ALU_L1(cvt, f16_f64, uint16_t, double, f16_of_f64(integral(a, imm), imm))
ALU_L1(cvt, bf16_f64, uint16_t, double, bf16_of_f64(integral(a, imm), imm))

// Saturates by out32, but keeps NaN.
INLINE VF32 keep_nan32(VF32 r, unsigned f) {
    return f & ALU_SAT ? out32(r, f) : BLEND(VF32, r == r, out32(r, f), r);
}

// f64 to f32 in the hardware, in every mode; the fast conversions from and to 16 bits.
ALU_BODY(k_cvt_fast_f32_f64) {
    unsigned f = (unsigned)i->imm, old = set_rounding(f);
    float r[VM_LANES] __attribute__((aligned(64)));
    for (unsigned l = 0; l < VM_LANES; l++)
        r[l] = (float)LANE(double, i->a);
    for (unsigned k = 0; k < N32; k++)
        PUT32(keep_nan32(((VF32 *)r)[k], f));
    restore_rounding(f, old); // after the stores, which it cannot overtake
}
ALU_HANDLER(k_cvt_fast_f32_f64)
ALU_S1(cvt_fast, f64_f32, double, float, (double)a)
// cvt.sat.f32.f32, cvt.ftz.f32.f32, cvt.f32.f32
ALU_BODY(k_cvt_fast_f32_f32) {
    unsigned f = (unsigned)i->imm;
    for (unsigned k = 0; k < N32; k++)
        PUT32(out32(in32(GET(VF32, i->a, k), f), f));
}
ALU_HANDLER(k_cvt_fast_f32_f32)

// ---- Packed pairs ----------------------------------------------------------------------------------------

// Two numbers into one register, the first above the second; `half` is the width of one.
#define PAIR2(dst, fmt, D, half)                                                                             \
    ALU_L2(cvt2, dst##_f32, D, uint32_t, uint32_t,                                                           \
           alu_pack(load_f32(a, imm), fmt, imm) << half | alu_pack(load_f32(b, imm), fmt, imm))              \
    ALU_L1(cvt2, dst##_f16x2, D, uint32_t,                                                                   \
           alu_pack(load_f16((uint16_t)(a >> 16), imm), fmt, imm) << half |                                  \
               alu_pack(load_f16((uint16_t)a, imm), fmt, imm))
#define UNPAIR(src, fmt, A, half)                                                                            \
    ALU_L1(cvt2, f16x2_##src, uint32_t, A,                                                                   \
           (uint32_t)store_f16(alu_unpack((uint32_t)a >> half & (2 * fmt.sign - 1), fmt), imm) << 16 |       \
               store_f16(alu_unpack(a & (2 * fmt.sign - 1), fmt), imm))
#define PAIRS(X)                                                                                             \
    X(e4m3x2, ALU_FMT_E4M3, uint16_t, 8)                                                                     \
    X(e5m2x2, ALU_FMT_E5M2, uint16_t, 8)                                                                     \
    X(e2m3x2, ALU_FMT_E2M3, uint16_t, 8)                                                                     \
    X(e3m2x2, ALU_FMT_E3M2, uint16_t, 8)                                                                     \
    X(e2m1x2, ALU_FMT_E2M1, uint16_t, 4)
PAIRS(PAIR2)
PAIRS(UNPAIR)
#define PAIR1(dst, fmt)                                                                                      \
    ALU_L2(cvt2, dst##_f32, uint32_t, uint32_t, uint32_t,                                                    \
           alu_pack(load_f32(a, imm), fmt, imm) << 16 | alu_pack(load_f32(b, imm), fmt, imm))
PAIR1(f16x2, ALU_FMT_F16)
PAIR1(bf16x2, ALU_FMT_BF16)
// ue8m0: a bare exponent, 2^(code - 127); NaN is 0xff (9.7.9.21). Rounding is towards zero or up.
INLINE uint32_t pack_ue8m0(double x, uint64_t imm) {
    uint64_t bits = double_bits(x);
    int e = (int)(bits >> 52 & 0x7ff) - 1023;
    if (x != x)
        return 0xff;
    if (bits & 0xfffffffffffff && (imm & ALU_ROUNDING) == ALU_RP)
        e++;
    int code = e + 127;
    if (code > 254)
        return imm & ALU_SATFINITE ? 254 : 0xff;
    return code < 0 ? 0 : (uint32_t)code;
}
INLINE uint32_t bf16_of_ue8m0(uint32_t code) { return code == 0xff ? 0x7fff : code ? code << 7 : 0x40; }
ALU_L2(cvt2, ue8m0x2_f32, uint16_t, uint32_t, uint32_t,
       pack_ue8m0(load_f32(a, imm), imm) << 8 | pack_ue8m0(load_f32(b, imm), imm))
ALU_L1(cvt2, ue8m0x2_bf16x2, uint16_t, uint32_t,
       pack_ue8m0(load_bf16((uint16_t)(a >> 16), imm), imm) << 8 |
           pack_ue8m0(load_bf16((uint16_t)a, imm), imm))
ALU_L1(cvt2, bf16x2_ue8m0x2, uint32_t, uint16_t, bf16_of_ue8m0(a >> 8) << 16 | bf16_of_ue8m0(a & 0xff))

// ---- Integer and floating point --------------------------------------------------------------------------

// Out of range clamps; NaN is 0, or the most negative integer where the ISA says so.
INLINE uint64_t float_to_int(double x, uint64_t imm) {
    unsigned bits = ALU_CVT_DST_BITS(imm);
    // 2^bits or 2^(bits-1).
    double limit = bits_double((uint64_t)(1023 + bits - ALU_CVT_DST_SIGNED(imm)) << 52);
    uint64_t max = ~(uint64_t)0 >> (64 - bits) >> ALU_CVT_DST_SIGNED(imm);
    x = integral(x, imm);
    if (x != x)
        return !ALU_CVT_NAN_MIN(imm) ? 0 : ALU_CVT_DST_SIGNED(imm) ? ~max : (uint64_t)1 << (bits - 1);
    if (x >= limit)
        return max;
    if (!ALU_CVT_DST_SIGNED(imm))
        return x > 0 ? (uint64_t)x : 0;
    return x < -limit ? ~max : (uint64_t)(int64_t)x;
}
#define FLOAT_INT(src, A, dw, D) ALU_L1(cvt_ftoi, src##_##dw, D, A, float_to_int(load_##src(a, imm), imm))
#define FLOAT_INTS(X)            SOURCES(X, 16, uint16_t) SOURCES(X, 32, uint32_t) SOURCES(X, 64, uint64_t)
FLOAT_INTS(FLOAT_INT)
INLINE double int_to_double(uint64_t x, uint64_t imm) {
    x = extend(x, ALU_CVT_SRC_BITS(imm), ALU_CVT_SRC_SIGNED(imm));
    return ALU_CVT_SRC_SIGNED(imm) ? double_of_s64((int64_t)x) : double_of_u64(x);
}
#define INT_FLOAT(A, aw)                                                                                     \
    ALU_L1(cvt_itof, f16_##aw, uint16_t, A, store_f16(int_to_double(a, imm), imm))                           \
    ALU_L1(cvt_itof, bf16_##aw, uint16_t, A, store_bf16(int_to_double(a, imm), imm))                         \
    ALU_L1(cvt_itof, f32_##aw, uint32_t, A, store_f32(int_to_double(a, imm), imm))
#define INT_REGISTERS(X) X(uint16_t, 16) X(uint32_t, 32) X(uint64_t, 64)
INT_REGISTERS(INT_FLOAT)
// To f64, and whole registers to f32: the hardware's conversions, in its rounding mode.
// In directed modes a compiler's sequence for unsigned or wide integers may make -0 of 0 (a sum that cancels, rounded
// down). So the sign is set again, from behind a barrier: compilers know what sign a conversion's result has.
#define INT_HARD(type, A, dst, D)                                                                            \
    ALU_BODY(k_cvt_hard_##dst##_##type) {                                                                    \
        unsigned f = (unsigned)i->imm, old = set_rounding(f);                                                \
        D r[VM_LANES] __attribute__((aligned(64)));                                                          \
        for (unsigned l = 0; l < VM_LANES; l++)                                                              \
            r[l] = (D)LANE(A, i->a);                                                                         \
        if (f & ALU_ROUNDING) {                                                                              \
            __asm__ volatile("" : : "r"(r) : "memory");                                                      \
            for (unsigned l = 0; l < VM_LANES; l++)                                                          \
                set_sign(&r[l], sizeof(D), (A)-1 < (A)1 && (int64_t)LANE(A, i->a) < 0);                      \
        }                                                                                                    \
        put_lanes(w, i->d, r, sizeof(D), part);                                                              \
        restore_rounding(f, old);                                                                            \
    }                                                                                                        \
    ALU_HANDLER(k_cvt_hard_##dst##_##type)
INLINE void set_sign(void *x, unsigned size, bool negative) {
    if (size == 4)
        *(uint32_t *)x = (*(uint32_t *)x & 0x7fffffff) | (uint32_t)negative << 31;
    else
        *(uint64_t *)x = (*(uint64_t *)x & 0x7fffffffffffffff) | (uint64_t)negative << 63;
}
#define HARD(X)                                                                                              \
    X(s16, int16_t, f32, float)                                                                              \
    X(u16, uint16_t, f32, float)                                                                             \
    X(s32, int32_t, f32, float)                                                                              \
    X(u32, uint32_t, f32, float)                                                                             \
    X(s64, int64_t, f32, float)                                                                              \
    X(u64, uint64_t, f32, float)                                                                             \
    X(s16, int16_t, f64, double)                                                                             \
    X(u16, uint16_t, f64, double)                                                                            \
    X(s32, int32_t, f64, double)                                                                             \
    X(u32, uint32_t, f64, double)                                                                            \
    X(s64, int64_t, f64, double)                                                                             \
    X(u64, uint64_t, f64, double)
HARD(INT_HARD)
// 8-bit integers, and integers narrower than their register, to f64: exact.
#define NARROW_F64(A, aw) ALU_L1(cvt_itof, f64_##aw, uint64_t, A, store_f64(int_to_double(a, imm), imm))
INT_REGISTERS(NARROW_F64)

static const AluKernel rows[] = {
// clang-format off
#define INT_ROW(A, D, aw, dw) ALU_ROW(cvt_int, aw##_##dw) ALU_ROW(cvt_int_sat, aw##_##dw)
    INT_PAIRS(INT_ROW)
    ALU_ROW(extend, u32_64) ALU_ROW(extend, s32_64) ALU_ROW(truncate, b64_32) ALU_ROW(extend, u16_32)
    ALU_ROW(extend, s16_32) ALU_ROW(extend, u16_64) ALU_ROW(extend, s16_64) ALU_ROW(truncate, b32_16)
    ALU_ROW(truncate, b64_16) ALU_ROW(cvt_pack, 2) ALU_ROW(cvt_pack, 3)
#define FLOAT_ROW(src, A, dst, D) ALU_ROW(cvt, dst##_##src)
    FLOAT_PAIRS(FLOAT_ROW) ALU_ROW(cvt, tf32_f32) ALU_ROW(cvt, f16_f64) ALU_ROW(cvt, bf16_f64)
    ALU_ROW(cvt_fast, f32_f64) ALU_ROW(cvt_fast, f64_f32)
    ALU_ROW(cvt_fast, f32_f32)
#define PAIR_ROW(type, ...) ALU_ROW(cvt2, type##_f32) ALU_ROW(cvt2, type##_f16x2)
#define UNPAIR_ROW(type, ...) ALU_ROW(cvt2, f16x2_##type)
    PAIRS(PAIR_ROW) PAIRS(UNPAIR_ROW) ALU_ROW(cvt2, f16x2_f32) ALU_ROW(cvt2, bf16x2_f32)
    ALU_ROW(cvt2, ue8m0x2_f32) ALU_ROW(cvt2, ue8m0x2_bf16x2) ALU_ROW(cvt2, bf16x2_ue8m0x2)
#define FLOAT_INT_ROW(src, A, dw, D) ALU_ROW(cvt_ftoi, src##_##dw)
    FLOAT_INTS(FLOAT_INT_ROW)
#define INT_FLOAT_ROW(A, aw)                                                                                 \
    ALU_ROW(cvt_itof, f16_##aw) ALU_ROW(cvt_itof, bf16_##aw)                                                 \
    ALU_ROW(cvt_itof, f32_##aw) ALU_ROW(cvt_itof, f64_##aw)
    INT_REGISTERS(INT_FLOAT_ROW)
#define HARD_ROW(type, A, dst, D) ALU_ROW(cvt_hard, dst##_##type)
    HARD(HARD_ROW)
    // clang-format on
};
ALU_EXPORT(cvt);
