// SPDX-License-Identifier: Apache-2.0
// quiet — loads of memory that no thread of the launch writes: they race with nothing, and nothing races with them.
//
// The pass finds, for each load and each store of a kernel, which parameter its address comes from (passes/origin.h).
// Where every store that may reach global memory has such a parameter, the kernel asks, when it begins, which
// allocations its parameters point to (__gr_extent). A load needs no check if its address lies in the allocation of a
// parameter that no store comes from, and no parameter that a store comes from points to the same allocation. Nothing
// of this is taken on trust: the load's address is compared with the allocation's bounds, and a store that leaves the
// allocation of its parameter is told (__gr_stray), and the verdict names it.
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

// What can be known of `f` before it is changed. Stores of which `status` says that they are left alone make it know
// nothing. `stamps`: of all functions of the module, less than f->index + 1, or of a function that had its turn.
gr_status gr_quiet_find(const PtxFunc *f, const GrSiteStatus *status, uint32_t *stamps, Arena *arena,
                        Quiet *out, gr_error *err);

// Emits before `at`, where the kernel begins, what finds the allocations.
gr_status gr_quiet_begin(Quiet *q, PtxFunc *f, PtxStmt *at, const char *suffix, gr_error *err);

// Emits at `at`, for a weak load of the address in a register: a->guard becomes narrower. Anything else is left as it
// is.
gr_status gr_quiet_load(const Quiet *q, Access *a, PtxStmt *at, const PtxReg *address);

// Emits at `at`, for a store, the look whether it stays where it should.
gr_status gr_quiet_store(const Quiet *q, const Access *a, PtxStmt *at, const PtxReg *address,
                         const char *suffix);

#endif
