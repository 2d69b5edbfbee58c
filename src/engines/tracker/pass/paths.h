// SPDX-License-Identifier: Apache-2.0
// paths — what the paths through a kernel say of its fences and its ends, by its text. Of other functions than kernels
// nothing is known.
#ifndef GR_ENGINES_TRACKER_PASS_PATHS_H
#define GR_ENGINES_TRACKER_PASS_PATHS_H

#include "ptx/cfg.h"

// `order` of the instruction (order.h), less what it cannot do: a fence.acq_rel that no strong write can follow
// releases nothing, and one that no strong read can precede acquires nothing (PTX ISA 8.7). 0: it does neither.
uint32_t gr_paths_trim(const PtxFunc *f, const Cfg *g, const PtxStmt *s, uint32_t order);

// Whether, in a kernel with barriers of all threads, a thread may come to the end of the kernel or to a statement
// without having met such a barrier.
typedef struct Ends {
    bool *early; // by block of the graph: what is there before the first barrier can be reached so
    bool any;    // such an end is there, and other threads of the block may come to a barrier then
} Ends;
bool gr_paths_ends(const PtxFunc *f, const Cfg *g, Arena *arena, Ends *out); // false: out of memory
bool gr_paths_early_end(const Ends *e, const Cfg *g, const PtxStmt *s);

#endif
