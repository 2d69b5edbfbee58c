// SPDX-License-Identifier: Apache-2.0
// body — another copy of a kernel's code within the kernel, to be changed: same variables, labels of its own.
#ifndef GR_ENGINES_PRIVATIZER_PASS_BODY_H
#define GR_ENGINES_PRIVATIZER_PASS_BODY_H

#include "base/arena.h"
#include "ptx/ptx.h"

typedef struct Body {
    PtxStmt **stmt;       // [n], in order
    const PtxStmt **from; // the program's own that each is a copy of
    size_t n;
    // By PtxReg.index of the program's own: the copy's register, where it is another one; else NULL.
    PtxReg **regs;
} Body;

// Puts the copy of the statements `first` to `last` (but declarations outside of inner scopes) at the end of the
// kernel. Its registers are the program's, but for those that an inner scope declares. Scopes around an instruction of
// which `opens` is true are taken away in the copy, and its registers become the kernel's own: so there can be labels
// there. `*out` is in `arena`.
gr_status gr_body_copy(PtxFunc *f, const PtxStmt *first, const PtxStmt *last, bool (*opens)(const PtxInstr *),
                       Arena *arena, Body *out, gr_error *err);

#endif
