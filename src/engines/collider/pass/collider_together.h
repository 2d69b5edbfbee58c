// SPDX-License-Identifier: Apache-2.0
// collider_together — the lanes of a warp go on together behind a branch, where a program asks which lanes are together
// (ColliderOptions.thinned).
//
// A lane that sleeps in a window, or calls a function that has YIELD, lets the lanes go on that wait for it where a
// branch ends: on an H100 nanosleep alone does so (measured). From then on the warp is in parts. CUDA allows that, and
// races of lanes of one warp show by it. But a program that asks which lanes are together (activemask, as
// coalesced_threads() does) gets the parts, and what ptxas makes of a leader's atomic operation may count wrong where
// two parts come to it. So in functions that ask, and in modules where a function that is called does, all lanes that
// went into a branch or a loop together wait for each other where it ends:
//
//     activemask m; or m, m, lanemask_eq;     before the branch, or before the loop (device_api/device.h says why the
//                                             lane's own bit comes in again)
//     setp.eq p, lanemask_eq, 0; @p bra OUT;  never
//     …
//     vote.sync.ballot x, q, m;               where all paths have met again. It orders no memory
// OUT:
//
// Behind the vote the lanes are at one place at one time, but not together: ptxas does such a vote by a collective
// operation, in kernels with calls, that lets the parts go on as they came. What makes them one is the end of the
// branch to OUT, where ptxas has lanes wait for each other (BSYNC), and between the vote and that none sleeps any more.
//
// Only where no lane can need another one that waits there already: all ways into the code between go by the branch and
// all ways out of it by its end, and nothing in between waits for other threads: no barrier of the block, no function
// that may do so, and in loops nothing strong or atomic. Lanes that shuffle, vote or wait for the warp in between may
// do so for lanes alone that are in there as well, which the mask must show: it comes from an activemask in between.
// (With a mask of all lanes, others may do the same behind the end.) What is inserted waits for a bounded time, so it
// may be in between.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_TOGETHER_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_TOGETHER_H

#include "engines/collider/pass/collider_access.h"
#include "ptx/defuse.h"

// Of a module, before anything is inserted. False: out of memory.
typedef struct TogetherModule {
    bool called; // a function that is called asks
    bool *quiet; // by function: it is called, and waits for nobody
} TogetherModule;
bool gr_together_module(PtxModule *m, TogetherModule *t);

// Before anything is inserted into the function, of which `uses` knows: the program's branches and loops. Sets
// w->joins, which has no mask where the function is none of these.
gr_status gr_together_begin(ColliderWork *w, const TogetherModule *m, const DefUse *uses, PtxFunc *f);
// As gr_collider_open_detour; where w->joins has a mask, the lanes that are at `at` together go on together behind the
// detour.
gr_status gr_together_open_detour(const ColliderWork *w, Access *a, PtxStmt *at, const PtxReg *condition,
                                  Detour *d);
// When the function has been rewritten: at its beginning, for what was inserted before its own code.
gr_status gr_together_finish(const ColliderWork *w, PtxFunc *f);

#endif
