// SPDX-License-Identifier: Apache-2.0
// collider_again — loads whose windows stay open behind their own waits (ColliderOptions.thinned): the windows of
// stores that follow in the same straight line of code look at them again.
//
// A load's window may hold whatever orders nothing: the thread's own weak stores and relaxed atomic operations, too, as
// long as they touch other bytes. So the waits before and behind a store watch what was loaded before it as well, and
// cost nothing more. Until what orders (a barrier, a fence, an acquire or release, a call) no other thread may write
// there: by theorems A.2 and A.3 of the paper a change is a race.
//
//     ld x, [a];  wait, look at a;
//     st [b], y;  wait, look at b; if the store did not touch a, look at a again
//
// Lanes of one warp run in step on a GPU: all of them load, wait and look before the first of them stores. A store of
// another lane shows only to a window that holds the store.
//
// The loads are forgotten where the thread may come from elsewhere (a label), where a register that their windows read
// gets another value, behind an access that has no window, and where windows open by another choice (collider_pace.h).
// Whether an access touched the bytes is known by its address: of loads and stores by generic addresses, and of the
// shared memory of a cluster, one place may have two, so these end it.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_AGAIN_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_AGAIN_H

#include "engines/collider/pass/collider_access.h"

enum { AGAIN_LOADS = 8, AGAIN_WORDS = 8, AGAIN_IN_LOOP = 2 }; // at most so many; so many registers of 32 bits

struct Again {
    Access loads[AGAIN_LOADS]; // their guards say which lanes' own accesses have not touched the bytes
    unsigned n, words;
    const PtxReg *open; // of the windows in which they were looked at
    // The program's last statement, if it is an access that gr_again_over must be told of.
    const PtxStmt *over;
    bool told;
};

// Registers of 32 bits that a load's value takes.
unsigned gr_again_words(const Access *a);
// Nothing but registers are read and written.
bool gr_again_computes(const PtxInstr *i);
// A weak load.
bool gr_again_loads(const PtxInstr *i);
// Whether `i` changes what the windows of these loads read.
bool gr_again_disturbs(const Access *loads, unsigned n, const PtxInstr *i);

// Before the program's statement `s`; all of them in the order of the text.
void gr_again_step(Again *g, const PtxStmt *s);
// These loads were looked at in a window that opens by `open`. In a loop they replace what is known, if they take
// AGAIN_IN_LOOP words at most.
void gr_again_take(Again *g, const Access *loads, unsigned n, const PtxReg *open, bool in_loop);
// At `at`, in a window that opens by `open`: what the access `by` touches is looked at no more.
gr_status gr_again_over(Again *g, const Access *by, PtxStmt *at, const PtxReg *open);
// At `at`, in a window of the store `by`.
gr_status gr_again_look(ColliderWork *w, Again *g, const Access *by, PtxStmt *at, const PtxReg *open);

#endif
