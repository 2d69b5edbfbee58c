// SPDX-License-Identifier: Apache-2.0
// kept — the kernel's registers where regions begin and end, and the hash of what the thread stored, in local memory.
// There are two sets of what is live there: one as it was where the thread's region began, one as it was at the end of
// pass 1. A region that begins takes the second for the first. So in between no register has more of it than the
// program's own code, and where a region ends none has anything.
#ifndef GR_ENGINES_PRIVATIZER_PASS_KEPT_H
#define GR_ENGINES_PRIVATIZER_PASS_KEPT_H

#include "engines/privatizer/pass/code.h"

typedef struct Kept {
    unsigned size; // of a set, in bytes
    char name[40]; // of the memory
    PtxReg *at;    // where in it the first set is
} Kept;

// `from`: where regions begin, in the kernel's own code; NULL: nothing is live there but the hash. Declares the memory,
// for this copy of the code, which begins with none of it in use.
gr_status gr_kept_find(const Code *c, const PtxStmt *const *from, size_t n, Kept *out);

// In front of `at`, of what is live at `from`. At the end of pass 1 it is noted. Behind pass 2 *unlike is set if
// something is not what was noted. The region that begins begins with what was noted. And the registers become what the
// region began with.
gr_status gr_kept_note(const Code *c, const Kept *k, PtxStmt *at, const PtxStmt *from);
gr_status gr_kept_compare(const Code *c, const Kept *k, PtxStmt *at, const PtxStmt *from, PtxReg *unlike);
gr_status gr_kept_turn(const Code *c, const Kept *k, PtxStmt *at);
gr_status gr_kept_fetch(const Code *c, const Kept *k, PtxStmt *at, const PtxStmt *from);

#endif
