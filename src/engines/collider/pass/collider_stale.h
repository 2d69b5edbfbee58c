// SPDX-License-Identifier: Apache-2.0
// collider_stale — what an earlier block left in shared memory is made to differ (ColliderOptions.poison and .holds).
//
// A multiprocessor does not clear its shared memory. Where a kernel is launched again and again, a block finds there
// what the same block of the launch before has stored, which often is what it is about to store itself: then a thread
// that loads too early sees nothing change but poison. So in the launches in which threads keep what they access
// (collider_segment.h) a block begins by turning the lowest bit of each word of its kernel's own variables:
//
//     @watches: each thread turns its share of the words; bar.sync 0;
//
// What is there has no value for the program (PTX ISA 9.0, 5.1.7 and 5.4.4: shared variables are not initialized), and
// no thread of the program has done anything before the barrier.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_STALE_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_STALE_H

#include "engines/collider/pass/collider_access.h"

// Whether the kernel `f`, which begins at `at`, has such variables.
bool gr_stale_turns(const PtxFunc *f, const PtxStmt *at);
// There, behind what sets w->watches, which all threads of a block have alike.
gr_status gr_stale_turn(ColliderWork *w, PtxFunc *f, PtxStmt *at);

#endif
