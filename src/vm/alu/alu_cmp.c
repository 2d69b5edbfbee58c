// SPDX-License-Identifier: Apache-2.0
// alu_cmp — setp and set. The common comparisons are vector kernels of their own (alu_cmp.def); set and the
// 16-bit formats compare lane by lane, with the comparison given at run time as the set of relations for which it
// holds (AluCompare).

#include "vm/alu/alu_half.h"
#include "vm/alu/alu_kernel.h"

// What follows the comparison: p = cmp op c, q = !cmp op c (PTX ISA 9.7.6.2).
INLINE uint32_t combine(VmWarp *w, const VmInsn *i, uint32_t bits) {
    uint32_t c = VM_PRED(w, i->c);
    switch (i->imm & ALU_BOOL_OP) {
    case ALU_BOOL_AND: return bits & c;
    case ALU_BOOL_OR: return bits | c;
    default: return bits ^ c;
    }
}

// q's comparison is the complement of p's, but for packed halves it is the upper half's own.
INLINE void finish2(VmWarp *w, const VmInsn *i, uint32_t p, uint32_t q, bool part) {
    if (i->imm & ALU_BOOL_OP) {
        p = combine(w, i, p);
        q = combine(w, i, q);
    }
    put_pred(w, i->d, p, part);
    if (i->imm & ALU_BOOL_Q)
        put_pred(w, i->d2, q, part);
}
INLINE void finish(VmWarp *w, const VmInsn *i, uint32_t bits, bool part) {
    if (__builtin_expect((i->imm & (ALU_BOOL_OP | ALU_BOOL_Q)) == 0, 1))
        put_pred(w, i->d, bits, part);
    else
        finish2(w, i, bits, ~bits, part);
}

// A subnormal to zero, keeping the sign.
INLINE float flush_lane(float x) {
    uint32_t u = float_bits(x);
    return bits_float(u & 0x7f800000 ? u : u & 0x80000000);
}

#define SETP(name, W, V, prepare, mask)                                                                      \
    ALU_BODY(k_##name) {                                                                                     \
        uint32_t bits = 0;                                                                                   \
        for (unsigned k = 0; k < N##W; k++) {                                                                \
            V a = prepare(GET(V, i->a, k)), b = prepare(GET(V, i->b, k));                                    \
            bits |= bits##W((VS##W)(mask), k);                                                               \
        }                                                                                                    \
        finish(w, i, bits, part);                                                                            \
    }                                                                                                        \
    ALU_HANDLER(k_##name)
#define I(cmp, type, W, V, mask) SETP(setp_##cmp##_##type, W, V, , mask)
#define F(cmp, mask)                                                                                         \
    SETP(setp_##cmp##_f32, 32, VF32, , mask)                                                                 \
    SETP(setp_##cmp##_ftz_f32, 32, VF32, flush32, mask)                                                      \
    SETP(setp_##cmp##_f64, 64, VF64, , mask)
#include "vm/alu/alu_cmp.def"
#undef I
#undef F

// Which relation holds between a and b, as a bit of AluCompare.
#define RELATION(a, b)                                                                                       \
    ((a) < (b) ? ALU_LESS : (a) == (b) ? ALU_EQUAL : (a) > (b) ? ALU_GREATER : ALU_UNORDERED)

#define KEEP(x)  (x)
#define FLUSH(x) (i->imm & ALU_CMP_FTZ ? flush_lane(x) : (x))
// f16's own .ftz: subnormals of the 16-bit format.
#define LOAD_F16(h) float_of_f16(i->imm &ALU_CMP_FTZ && !((h)&0x7c00) ? (h)&0x8000 : (h))

// COMPARE(name, element type, what compares it): a bit per lane.
#define COMPARE(name, T, load)                                                                               \
    static uint32_t compare_##name(VmWarp *w, const VmInsn *i) {                                             \
        uint32_t bits = 0;                                                                                   \
        for (unsigned l = 0; l < VM_LANES; l++) {                                                            \
            T a = LANE(T, i->a), b = LANE(T, i->b);                                                          \
            bits |= (uint32_t)((i->imm & RELATION(load(a), load(b))) != 0) << l;                             \
        }                                                                                                    \
        return bits;                                                                                         \
    }
COMPARE(u16, uint16_t, KEEP)
COMPARE(s16, int16_t, KEEP)
COMPARE(u32, uint32_t, KEEP)
COMPARE(s32, int32_t, KEEP)
COMPARE(u64, uint64_t, KEEP)
COMPARE(s64, int64_t, KEEP)
COMPARE(f32, float, FLUSH)
COMPARE(f64, double, KEEP)
COMPARE(f16, uint16_t, LOAD_F16)
COMPARE(bf16, uint16_t, float_of_bf16)
// One half of packed registers.
#define LO16(x)         ((uint16_t)(x))
#define HI16(x)         ((uint16_t)((x) >> 16))
#define LOAD_F16_LO(x)  LOAD_F16(LO16(x))
#define LOAD_F16_HI(x)  LOAD_F16(HI16(x))
#define LOAD_BF16_LO(x) float_of_bf16(LO16(x))
#define LOAD_BF16_HI(x) float_of_bf16(HI16(x))
COMPARE(f16_lo, uint32_t, LOAD_F16_LO)
COMPARE(f16_hi, uint32_t, LOAD_F16_HI)
COMPARE(bf16_lo, uint32_t, LOAD_BF16_LO)
COMPARE(bf16_hi, uint32_t, LOAD_BF16_HI)

#define SETP_LANES(type)                                                                                     \
    ALU_BODY(k_setp_##type) { finish(w, i, compare_##type(w, i), part); }                                    \
    ALU_HANDLER(k_setp_##type)
#define SETP_PACKED(type)                                                                                    \
    ALU_BODY(k_setp_##type##x2) {                                                                            \
        finish2(w, i, compare_##type##_lo(w, i), compare_##type##_hi(w, i), part);                           \
    }                                                                                                        \
    ALU_HANDLER(k_setp_##type##x2)
SETP_LANES(f16)
SETP_LANES(bf16)
SETP_PACKED(f16)
SETP_PACKED(bf16)

// set: the value for true or zero, in a 32-bit or a 16-bit destination.
#define SET(type)                                                                                            \
    ALU_BODY(k_set_b32_##type) {                                                                             \
        uint32_t bits = compare_##type(w, i), yes = (uint32_t)(i->imm >> 32);                                \
        if (i->imm & ALU_BOOL_OP)                                                                            \
            bits = combine(w, i, bits);                                                                      \
        for (unsigned k = 0; k < N32; k++)                                                                   \
            PUT32(mask32(bits, k) & yes);                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_set_b32_##type)                                                                            \
    ALU_BODY(k_set_b16_##type) {                                                                             \
        uint32_t bits = compare_##type(w, i);                                                                \
        if (i->imm & ALU_BOOL_OP)                                                                            \
            bits = combine(w, i, bits);                                                                      \
        for (unsigned k = 0; k < N16; k++)                                                                   \
            PUT16(mask16(bits, k) & (uint16_t)(i->imm >> 32));                                               \
    }                                                                                                        \
    ALU_HANDLER(k_set_b16_##type)
#define SET_PACKED(type)                                                                                     \
    ALU_BODY(k_set_b32_##type##x2) {                                                                         \
        uint32_t lo = compare_##type##_lo(w, i), hi = compare_##type##_hi(w, i);                             \
        uint32_t yes = (uint32_t)(i->imm >> 32);                                                             \
        if (i->imm & ALU_BOOL_OP) {                                                                          \
            lo = combine(w, i, lo);                                                                          \
            hi = combine(w, i, hi);                                                                          \
        }                                                                                                    \
        for (unsigned k = 0; k < N32; k++)                                                                   \
            PUT32((mask32(lo, k) & (yes & 0xffff)) | (mask32(hi, k) & (yes & 0xffff0000)));                  \
    }                                                                                                        \
    ALU_HANDLER(k_set_b32_##type##x2)
#define SET_TYPES(X) X(u16) X(s16) X(u32) X(s32) X(u64) X(s64) X(f32) X(f64) X(f16) X(bf16)
SET_TYPES(SET)
SET_PACKED(f16)
SET_PACKED(bf16)

static const AluKernel rows[] = {
// clang-format off
#define ROW(key, name) {key, {k_##name##_full, k_##name##_part}},
#define I(cmp, type, ...) ROW("setp_" #cmp "." #type, setp_##cmp##_##type)
#define F(cmp, mask) I(cmp, f32) I(cmp, f64) ROW("setp_" #cmp "_ftz.f32", setp_##cmp##_ftz_f32)
#include "vm/alu/alu_cmp.def"
    ROW("setp.f16", setp_f16) ROW("setp.bf16", setp_bf16)
    ROW("setp.f16x2", setp_f16x2) ROW("setp.bf16x2", setp_bf16x2)
#define S(type) ROW("set_b32." #type, set_b32_##type) ROW("set_b16." #type, set_b16_##type)
    SET_TYPES(S)
    ROW("set_b32.f16x2", set_b32_f16x2) ROW("set_b32.bf16x2", set_b32_bf16x2)
    // clang-format on
};
ALU_EXPORT(cmp);
