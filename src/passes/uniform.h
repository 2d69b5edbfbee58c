// SPDX-License-Identifier: Apache-2.0
// uniform — which branches of a kernel all threads of a block take alike.
//
// A value is uniform if it is computed from constants, parameters, constant memory and special registers that are the
// same for the whole block, by code that all threads of the block reach together. In doubt a value is not uniform.
#ifndef GR_PASSES_UNIFORM_H
#define GR_PASSES_UNIFORM_H

#include "ptx/cfg.h"

typedef struct Uniform {
    bool *varies; // by PtxReg.index
    uint32_t n_regs;
    // By block: threads may be there while others of the block are elsewhere, or will never come.
    bool *divided;
} Uniform;

// Looks at the program's own statements. False: out of memory. *out lives as long as `arena`.
bool gr_uniform_find(const PtxFunc *f, const Cfg *g, Arena *arena, Uniform *out);

#endif
