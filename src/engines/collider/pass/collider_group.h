// SPDX-License-Identifier: Apache-2.0
// collider_group — one window for several loads of a straight line of code (ColliderOptions.thinned): one delay, then
// all are repeated.
//
// A load's window may be longer than its delay: it may hold whatever orders nothing and writes no memory. So a group
// grows by loads and arithmetic, and ends before anything else: a store, a barrier, a fence, a call, a branch, a label.
// It also ends before what changes a register that the window reads: a value that was loaded, an address, a guard. The
// program's loads stay side by side, as nvcc put them to have their latencies overlap.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_GROUP_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_GROUP_H

#include "engines/collider/pass/collider_again.h"
#include "engines/collider/pass/collider_pace.h"

enum { GROUP_LOADS = 8, GROUP_WORDS = 8 }; // at most so many, so many registers of 32 bits

typedef struct LoadGroup {
    Access loads[GROUP_LOADS];
    unsigned n, words;
} LoadGroup;

// Before the program's statement `s`: writes the window of the group if `s` ends it.
gr_status gr_group_step(ColliderWork *w, LoadGroup *g, PtxStmt *s);
// Takes a load that is to be checked, which gr_access_read has read, into the group, or writes its window at once.
gr_status gr_group_load(ColliderWork *w, LoadGroup *g, Access *a, const Speculation *spec);
// Writes the window before `at` (NULL: at the end of the body).
gr_status gr_group_close(ColliderWork *w, LoadGroup *g, PtxStmt *at);

#endif
