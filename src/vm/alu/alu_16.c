// SPDX-License-Identifier: Apache-2.0
// alu_16 — f16 and bf16 arithmetic lane by lane: every operation with any flags, and the plain ones that alu_16v.c has
// no vectors for. Also mixed precision.

#include "vm/alu/alu_16.h"

// ---- Kernels of the table --------------------------------------------------------------------------------

#define K1(V, key, op, fmt, f)                                                                               \
    ALU_##V##1(key, fmt, uint16_t, uint16_t, OF1(op, fmt, a, f))ALU_##V##1(                                  \
        key, fmt##x2, uint32_t, uint32_t, PACK(OF1(op, fmt, LO(a), f), OF1(op, fmt, HI(a), f)))
#define K2(V, key, op, fmt, f)                                                                               \
    ALU_##V##2(key, fmt, uint16_t, uint16_t, uint16_t, OF2(op, fmt, a, b, f))ALU_##V##2(                     \
        key, fmt##x2, uint32_t, uint32_t, uint32_t,                                                          \
        PACK(OF2(op, fmt, LO(a), LO(b), f), OF2(op, fmt, HI(a), HI(b), f)))
#define K3(V, key, op, fmt, f)                                                                               \
    ALU_##V##3(key, fmt, uint16_t, uint16_t, uint16_t, uint16_t, OF3(op, fmt, a, b, c, f))ALU_##V##3(        \
        key, fmt##x2, uint32_t, uint32_t, uint32_t, uint32_t,                                                \
        PACK(OF3(op, fmt, LO(a), LO(b), LO(c), f), OF3(op, fmt, HI(a), HI(b), HI(c), f)))
// Plain kernels are loops that vectorize, those with flags are not.
#define ANY    (unsigned)imm
#define A1(op) K1(L, op##_any, op, f16, ANY) K1(L, op##_any, op, bf16, ANY)
#define A2(op) K2(L, op##_any, op, f16, ANY) K2(L, op##_any, op, bf16, ANY)
#define A3(op) K3(L, op##_any, op, f16, ANY) K3(L, op##_any, op, bf16, ANY)
#define H1(op) K1(S, op, op, f16, 0) K1(S, op, op, bf16, 0) A1(op)
#define H2(op) K2(S, op, op, f16, 0) K2(S, op, op, bf16, 0) A2(op)
#include "vm/alu/alu_16.def"
#undef H1
#undef H2
#undef A1
#undef A2
#undef A3

// ---- Mixed precision: f32 results and addends, 16-bit factors (9.7.5) ------------------------------------

#define MIXED(op, fmt, body)                                                                                 \
    ALU_BODY(k_##op##_mixed_##fmt) {                                                                         \
        unsigned f = (unsigned)i->imm, old = set_rounding(f);                                                \
        float r[VM_LANES] __attribute__((aligned(64)));                                                      \
        for (unsigned l = 0; l < VM_LANES; l++) {                                                            \
            float a = load_##fmt(LANE(uint16_t, i->a), 0);                                                   \
            r[l] = body;                                                                                     \
        }                                                                                                    \
        for (unsigned k = 0; k < N32; k++)                                                                   \
            PUT32(out32(((VF32 *)r)[k], f));                                                                 \
        restore_rounding(f, old); /* after the stores, which it cannot overtake */                           \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_mixed_##fmt)
#define MIXED_FORMAT(fmt)                                                                                    \
    MIXED(add, fmt, a + LANE(float, i->b))                                                                   \
    MIXED(sub, fmt, a - LANE(float, i->b))                                                                   \
    MIXED(fma, fmt, __builtin_fmaf(a, load_##fmt(LANE(uint16_t, i->b), 0), LANE(float, i->c)))
MIXED_FORMAT(f16)
MIXED_FORMAT(bf16)

// fma.oob (9.7.4.4): 0x7ff7 is the NaN that tensor copies put out of bounds, whatever its sign; a factor that is one
// makes the result zero.
#define OOB(x)                   (((x)&0x7fff) == 0x7ff7)
#define FMA_OOB(fmt, a, b, c, f) (OOB(a) || OOB(b) ? (uint16_t)0 : OF3(fma, fmt, a, b, c, f))
#define OOB_FORMAT(fmt)                                                                                      \
    ALU_L3(fma_oob, fmt, uint16_t, uint16_t, uint16_t, uint16_t, FMA_OOB(fmt, a, b, c, ANY))                 \
    ALU_L3(fma_oob, fmt##x2, uint32_t, uint32_t, uint32_t, uint32_t,                                         \
           PACK(FMA_OOB(fmt, LO(a), LO(b), LO(c), ANY), FMA_OOB(fmt, HI(a), HI(b), HI(c), ANY)))
OOB_FORMAT(f16)
OOB_FORMAT(bf16)

static const AluKernel rows[] = {
// clang-format off
#define H(key) ALU_ROW(key, f16) ALU_ROW(key, bf16) ALU_ROW(key, f16x2) ALU_ROW(key, bf16x2)
#define H1(op) H(op) H(op##_any)
#define H2 H1
#define A2(op) H(op##_any)
#define A3 A2
#include "vm/alu/alu_16.def"
#define M(fmt) ALU_ROW(add_mixed, fmt) ALU_ROW(sub_mixed, fmt) ALU_ROW(fma_mixed, fmt)
    M(f16) M(bf16) H(fma_oob)
    // clang-format on
};
ALU_EXPORT(16);
