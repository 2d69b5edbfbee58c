// SPDX-License-Identifier: Apache-2.0
// alu_video — VmInsn.imm of video instructions: AluFlags below, then these.
#ifndef GR_VM_ALU_VIDEO_H
#define GR_VM_ALU_VIDEO_H

enum AluVideo {
    ALU_VIDEO_D = 1 << 16,
    ALU_VIDEO_A = 1 << 17,
    ALU_VIDEO_B = 1 << 18
}; // these types are signed
enum AluVideoSecond { ALU_VIDEO_ADD = 1, ALU_VIDEO_MIN, ALU_VIDEO_MAX };

#define ALU_VIDEO_SECOND(imm)    ((imm) >> 20 & 3)
#define ALU_VIDEO_RELATIONS(imm) ((imm) >> 24 & 255)

#endif
