// SPDX-License-Identifier: Apache-2.0
// reach — which functions of a module may run when one of them does.
#ifndef GR_PTX_REACH_H
#define GR_PTX_REACH_H

#include "ptx/ptx.h"

// Sets marked[index] of `f` and of every function that it may call; an indirect call may reach every device function of
// the module. `marked` has m->n_funcs elements; what is set already is not looked at again.
void gr_ptx_mark_reachable(const PtxModule *m, const PtxFunc *f, bool *marked);

// Whether the function calls any.
bool gr_ptx_calls(const PtxFunc *f);

// Calls `seen` once for `f` and for every function that it may call, unless its stamps[index] is `stamp` already; sets
// that. In a module of many kernels that takes no longer than what each of them reaches.
typedef void (*GrReached)(void *user, const PtxFunc *f);
void gr_ptx_each_reachable(const PtxFunc *f, uint32_t *stamps, uint32_t stamp, GrReached seen, void *user);

// One number as long as the function's code is the same: source positions, names of registers, labels and symbols, and
// the rest of the module play no part. Inserted statements do not count.
uint64_t gr_ptx_code_hash(const PtxFunc *f);

// Opens `f` (gr_ptx_open) in place of *open, which an earlier call opened; NULL: there is none. For callers that go
// through the sites, as a function's sites are neighbours. False: out of memory; *open is NULL then.
bool gr_ptx_turn_to(PtxFunc **open, PtxFunc *f);

#endif
