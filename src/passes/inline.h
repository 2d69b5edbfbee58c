// SPDX-License-Identifier: Apache-2.0
// inline — puts the code of device functions in place of calls of them, for passes that have to see all that a kernel
// does. Debug builds (nvcc -G) inline nothing.
//
// While a pass is at work the code is the program's own: it has no tag, and its accesses are sites of their own behind
// the module's, with the `id` of the access in the function that was called. gr_inline_end() makes it inserted code, so
// that a rewritten module has the same sites when it is read again.
#ifndef GR_PASSES_INLINE_H
#define GR_PASSES_INLINE_H

#include "base/vec.h"
#include "ptx/ptx.h"

typedef struct GrInlined {
    VEC(PtxStmt *) stmts; // that were put in
    VEC(PtxSite) sites;   // the module's, from number 0 on, and those that came behind
    uint32_t n_sites;     // the module's own
    PtxSite *own;
    uint32_t names; // of variables that were made
    bool began;
} GrInlined;

// Puts functions for which `wants` is true into `kernel`, and into the code that comes so, in place of calls by name.
// Leaves out functions that call themselves, have registers as parameters, or declare variables other than .local,
// .param and .shared (which become the module's); calls under a predicate; and what makes a kernel too large. *m's
// sites grow.
gr_status gr_inline_calls(GrInlined *all, PtxModule *m, PtxFunc *kernel,
                          bool (*wants)(const void *user, const PtxFunc *callee), const void *user,
                          gr_error *err);

// The module has its own sites again.
void gr_inline_end(GrInlined *all, PtxModule *m);

#endif
