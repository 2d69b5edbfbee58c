// SPDX-License-Identifier: Apache-2.0
// alu_video — video instructions on whole registers, PTX ISA 9.7.18: v{add,sub,absdiff,min,max,set}, and their forms on
// two halves and four bytes. video.c
// has the forms with selectors, and vshl, vshr, vmad. imm: AluFlags, the types' signs (AluVideo), the secondary
// operation and vset's relations.

#include "vm/alu/alu_video.h"
#include "vm/alu/alu_kernel.h"

INLINE int64_t element(uint32_t x, unsigned j, unsigned bits, bool is_signed) {
    int64_t v = (int64_t)(x >> bits * j & (((uint64_t)1 << bits) - 1));
    return is_signed && v >> (bits - 1) ? v - ((int64_t)1 << bits) : v;
}

INLINE int64_t combine(VideoOp op, int64_t a, int64_t b, uint64_t imm) {
    if (op == V_SET)
        return (ALU_VIDEO_RELATIONS(imm) & (a < b ? ALU_LESS : a == b ? ALU_EQUAL : ALU_GREATER)) != 0;
    return video_combine(op, a, b);
}

// SIMD: every element by itself, put back, or (.add) summed onto c.
INLINE uint32_t simd(VideoOp op, unsigned bits, uint32_t a, uint32_t b, uint32_t c, uint64_t imm) {
    uint32_t d = 0;
    for (unsigned j = 0; j < 32 / bits; j++) {
        int64_t t =
            combine(op, element(a, j, bits, imm & ALU_VIDEO_A), element(b, j, bits, imm & ALU_VIDEO_B), imm);
        if (imm & ALU_SAT)
            t = video_saturate(t, bits, imm & ALU_VIDEO_D);
        if (ALU_VIDEO_SECOND(imm))
            c += (uint32_t)t;
        else
            d |= (uint32_t)(t & (((int64_t)1 << bits) - 1)) << bits * j;
    }
    return ALU_VIDEO_SECOND(imm) ? c : d;
}

// Scalar: 32 bits, then perhaps a secondary operation with c in the destination's type.
INLINE uint32_t scalar(VideoOp op, uint32_t a, uint32_t b, uint32_t c, uint64_t imm) {
    // An H200 computes so: .sat does not bound u32 above; minima, maxima and differences keep their sign in a secondary
    // operation; and vset's c has the sign of a.
    bool is_signed = imm & ALU_VIDEO_D;
    int64_t t = combine(op, element(a, 0, 32, imm & ALU_VIDEO_A), element(b, 0, 32, imm & ALU_VIDEO_B), imm);
    if (imm & ALU_SAT)
        t = is_signed ? video_saturate(t, 32, true) : t < 0 ? 0 : t;
    bool keeps = is_signed && (op == V_MIN || op == V_MAX || op == V_ABSDIFF);
    int64_t x = keeps ? t : element((uint32_t)t, 0, 32, is_signed);
    int64_t y = element(c, 0, 32, is_signed || (op == V_SET && imm & ALU_VIDEO_A));
    switch (ALU_VIDEO_SECOND(imm)) {
    case ALU_VIDEO_ADD: return (uint32_t)(x + y);
    case ALU_VIDEO_MIN: return (uint32_t)(x < y ? x : y);
    case ALU_VIDEO_MAX: return (uint32_t)(x > y ? x : y);
    default: return (uint32_t)x;
    }
}

#define SIMD(name, op)                                                                                       \
    ALU_L3(name##4, b32, uint32_t, uint32_t, uint32_t, uint32_t, simd(op, 8, a, b, c, imm))                  \
    ALU_L3(name##2, b32, uint32_t, uint32_t, uint32_t, uint32_t, simd(op, 16, a, b, c, imm))
#define SCALAR(name, op)                                                                                     \
    ALU_L2(name##_2, b32, uint32_t, uint32_t, uint32_t, scalar(op, a, b, 0, imm))                            \
    ALU_L3(name##_3, b32, uint32_t, uint32_t, uint32_t, uint32_t, scalar(op, a, b, c, imm))
#define SCALAR_OPS(X)                                                                                        \
    X(vadd, V_ADD) X(vsub, V_SUB) X(vabsdiff, V_ABSDIFF) X(vmin, V_MIN) X(vmax, V_MAX) X(vset, V_SET)
SCALAR_OPS(SIMD)
SIMD(vavrg, V_AVRG)
SCALAR_OPS(SCALAR)

static const AluKernel rows[] = {
// clang-format off
#define SIMD_ROW(name, op) ALU_ROW(name##4, b32) ALU_ROW(name##2, b32)
#define SCALAR_ROW(name, op) ALU_ROW(name##_2, b32) ALU_ROW(name##_3, b32)
    SCALAR_OPS(SIMD_ROW) SIMD_ROW(vavrg, V_AVRG) SCALAR_OPS(SCALAR_ROW)
    // clang-format on
};
ALU_EXPORT(video);
