// SPDX-License-Identifier: Apache-2.0
// defuse — which statements define and which use each register of a function.
#ifndef GR_PTX_DEFUSE_H
#define GR_PTX_DEFUSE_H

#include "ptx/ptx.h"

typedef struct Use {
    struct Use *next;
    PtxStmt *stmt;
    bool guard; // as the guard of the instruction
} Use;

typedef struct DefUseReg {
    uint32_t defs;
    Use *uses;
} DefUseReg;

// By PtxReg.index. Valid until the function gains registers that are looked up.
typedef struct DefUse {
    Arena arena;
    DefUseReg *regs;
    uint32_t n_regs;
} DefUse;

// Indexes the program's own statements of `f`.
gr_status gr_defuse_build(const PtxFunc *f, DefUse *out, gr_error *err);
void gr_defuse_free(DefUse *d);

// Arithmetic whose only effect is its destination, which is one register, and which every thread executes.
bool gr_defuse_is_pure(const PtxInstr *i);

#endif
