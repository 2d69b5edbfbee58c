// SPDX-License-Identifier: Apache-2.0
// body — another copy of a kernel's code within the kernel, to be changed: same registers and variables, labels of its own.
#ifndef GR_PRIVATIZER_PASS_BODY_H
#define GR_PRIVATIZER_PASS_BODY_H

#include "base/arena.h"
#include "ptx/ptx.h"

typedef struct Body {
    PtxStmt **stmt;       // [n] instructions and labels, in order
    const PtxStmt **from; // the program's own that each is a copy of
    size_t n;
} Body;

// Puts the copy of the statements `first` to `last` (but declarations outside of inner scopes) at the end of the kernel. `*out` is in `arena`.
gr_status gr_body_copy(PtxFunc *f, const PtxStmt *first, const PtxStmt *last, Arena *arena, Body *out,
                       gr_error *err);

#endif
