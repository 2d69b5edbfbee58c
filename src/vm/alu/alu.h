// SPDX-License-Identifier: Apache-2.0
// alu — what the parts of the arithmetic share: the shape of a kernel table, and the flags that travel from the
// spelling of an instruction to its kernel in VmInsn.imm.
//
// A kernel executes one operation on 32 lanes (alu_kernel.h). Kernels are found by a key, which is a PTX
// spelling made canonical: "add.b32" serves add.u32 and add.s32, "add_ftz.f32" is add.ftz.f32. alu_spec.def
// says which instructions exist and which key each one has; alu_select.c joins the two. Every kernel source is
// compiled once per instruction set (alu.cmake), and the tables of the best one this CPU has are used.
#ifndef GR_VM_ALU_ALU_H
#define GR_VM_ALU_ALU_H

#include "vm/core/insn.h"

typedef struct AluKernel {
    const char *key;
    VmExec exec[2];
} AluKernel;

typedef struct AluTable {
    const AluKernel *rows;
    unsigned n;
} AluTable;

// VmInsn.imm of instructions with modifiers. Rounding is in the low two bits, so that 0 is the default.
enum AluFlags {
    ALU_RN = 0,
    ALU_RZ = 1,
    ALU_RM = 2,
    ALU_RP = 3,
    ALU_ROUNDING = 3,
    ALU_FTZ = 4,
    ALU_SAT = 8,
    ALU_RELU = 16,
    ALU_NAN = 32,     // min, max: NaN wins
    ALU_XORSIGN = 64, // min, max .xorsign.abs
    ALU_ABS = 128,    // min, max .abs
    ALU_RNA = 256,    // round to nearest, ties away
    ALU_SATFINITE = 512,
    ALU_OOB = 1024,
    ALU_RS = 2048, // stochastic rounding
};

// imm of setp and set. Bits 4 to 7 say for which of the four relations of a and b the comparison holds; set's
// value for true is in the upper half.
enum AluCompare {
    ALU_BOOL_NONE = 0,
    ALU_BOOL_AND = 1,
    ALU_BOOL_OR = 2,
    ALU_BOOL_XOR = 3,
    ALU_BOOL_OP = 3,
    ALU_BOOL_Q = 8, // a second destination
    ALU_LESS = 16,
    ALU_EQUAL = 32,
    ALU_GREATER = 64,
    ALU_UNORDERED = 128,
    ALU_CMP_FTZ = 256,
};

// Whether this CPU has an instruction set ("base", "v3", "v4"), and this build code for it.
bool gr_alu_has(const char *isa);

// Chooses an instruction set by name instead of the best: for tests. False when this CPU
// or this build lacks it. Affects later gr_vm_alu_select calls.
bool gr_alu_use(const char *isa);

// The kernel of that key in the chosen instruction set, or NULL.
const AluKernel *gr_alu_kernel(const char *key);

// Arithmetic assumes the default floating-point environment: round to nearest, denormals kept, exceptions
// masked. A thread that executes kernels calls this first (a program may have changed its own threads') and
// restores with the value returned.
unsigned gr_alu_fp_enter(void);
void gr_alu_fp_leave(unsigned saved);

#endif
