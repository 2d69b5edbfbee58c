// SPDX-License-Identifier: Apache-2.0
// alu_video — the arithmetic of video instructions (PTX ISA 9.7.18) on one element, and VmInsn.imm of those of
// alu_video.c: AluFlags below, then AluVideo.
#ifndef GR_VM_ALU_ALU_VIDEO_H
#define GR_VM_ALU_ALU_VIDEO_H

#include <stdbool.h>
#include <stdint.h>

enum AluVideo {
    ALU_VIDEO_D = 1 << 16,
    ALU_VIDEO_A = 1 << 17,
    ALU_VIDEO_B = 1 << 18
}; // these types are signed
enum AluVideoSecond { ALU_VIDEO_ADD = 1, ALU_VIDEO_MIN, ALU_VIDEO_MAX };

#define ALU_VIDEO_SECOND(imm)    ((imm) >> 20 & 3)
#define ALU_VIDEO_RELATIONS(imm) ((imm) >> 24 & 255)

typedef enum VideoOp {
    V_ADD,
    V_SUB,
    V_AVRG,
    V_ABSDIFF,
    V_MIN,
    V_MAX,
    V_SET, // from here on more than the two elements matters
    V_SHL,
    V_SHR,
    V_MAD,
} VideoOp;

// Kernels of alu_video.c only become vector code when these are part of them.
#define VIDEO_INLINE static inline __attribute__((always_inline, unused))

VIDEO_INLINE int64_t video_saturate(int64_t t, unsigned bits, bool is_signed) {
    int64_t max = (INT64_C(1) << (bits - is_signed)) - 1, min = is_signed ? -max - 1 : 0;
    return t > max ? max : t < min ? min : t;
}

// Up to V_MAX. Exact; narrowed by the caller.
VIDEO_INLINE int64_t video_combine(VideoOp op, int64_t a, int64_t b) {
    switch (op) {
    case V_ADD: return a + b;
    case V_SUB: return a - b;
    case V_AVRG: return (a + b + (a + b >= 0)) >> 1;
    case V_ABSDIFF: return a < b ? b - a : a - b;
    case V_MIN: return a < b ? a : b;
    case V_MAX: return a > b ? a : b;
    default: return 0;
    }
}

#endif
