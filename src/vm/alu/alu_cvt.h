// SPDX-License-Identifier: Apache-2.0
// alu_cvt — how a conversion's details travel in VmInsn.imm, from alu_cvt_select.c to alu_cvt.c: AluFlags in the
// low 16 bits, then these.
#ifndef GR_VM_ALU_ALU_CVT_H
#define GR_VM_ALU_ALU_CVT_H

#include "vm/alu/alu.h"

enum AluToInteger { ALU_RNI = 1, ALU_RZI, ALU_RMI, ALU_RPI };

#define ALU_CVT_INTEGER(imm)    ((unsigned)((imm) >> 16 & 7)) // AluToInteger, 0 none
#define ALU_CVT_SRC_BITS(imm)   ((unsigned)((imm) >> 24 & 127))
#define ALU_CVT_SRC_SIGNED(imm) ((imm) >> 31 & 1)
#define ALU_CVT_DST_BITS(imm)   ((unsigned)((imm) >> 32 & 127))
#define ALU_CVT_DST_SIGNED(imm) ((imm) >> 39 & 1)
#define ALU_CVT_NAN_MIN(imm)    ((imm) >> 40 & 1) // NaN becomes the most negative integer instead of 0

#endif
