// SPDX-License-Identifier: Apache-2.0
// quiet — loads of memory that no thread of the launch writes: they race with nothing.
//
// The pass finds, for each load and each store of a kernel, which parameter its address comes from (passes/origin.h).
// If every store that may reach global memory has such a parameter, the kernel asks at its begin for the allocations
// that its parameters point to (__gr_extent). A load needs no check if its address lies in the allocation of a
// parameter that no store comes from, and no store's parameter points to the same allocation. The kernel trusts none of
// this: it compares the load's address with the allocation's bounds. It tells a store that leaves the allocation of its
// parameter (__gr_stray), and the verdict names that store.
#ifndef GR_ENGINES_TRACKER_PASS_QUIET_H
#define GR_ENGINES_TRACKER_PASS_QUIET_H

#include "passes/emit.h"
#include "passes/origin.h"
#include "ptx/ptx.h"

typedef struct Quiet {
    bool on; // the kernel has loads that may need no check
    Origins origins;
    bool reads[ORIGIN_ROOTS], writes[ORIGIN_ROOTS]; // such loads, and any stores, come from the root
    PtxReg *size[ORIGIN_ROOTS]; // of its allocation: how far such a load, or a store, may be from the root
} Quiet;

// Finds what can be known of `f` before it is changed; nothing if `status` leaves some store alone. `stamps`: of all
// functions of the module, less than f->index + 1, or of a function that had its turn.
gr_status gr_quiet_find(const PtxFunc *f, const GrSiteStatus *status, uint32_t *stamps, Arena *arena,
                        Quiet *out, gr_error *err);

// Emits, before `at`, where the kernel begins, what finds the allocations.
gr_status gr_quiet_begin(Quiet *q, PtxFunc *f, PtxStmt *at, const char *suffix, gr_error *err);

// Emits at `at`, for a weak load of the address in a register, what makes a->guard narrower. Leaves other loads as they
// are.
gr_status gr_quiet_load(const Quiet *q, Access *a, PtxStmt *at, const PtxReg *address);

// Emits at `at`, for a store, the look whether it stays where it should.
gr_status gr_quiet_store(const Quiet *q, const Access *a, PtxStmt *at, const PtxReg *address,
                         const char *suffix);

#endif
