// SPDX-License-Identifier: Apache-2.0
// collider_order — where a thread may order what it did before what others do: where its segments end
// (collider_segment.h).
//
// Known from the statement alone (PTX ISA 9.0, chapter 8 and 9.7.13): barriers, fences, releases, acquires, calls,
// ends, asynchronous operations, and whatever is not known to order nothing. Shuffles, votes and matches order no
// memory (CUDA C++ programming guide, 7.22). A wait, for an mbarrier or for the thread's own copies, orders only what
// comes behind it.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_ORDER_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_ORDER_H

#include "engines/collider/pass/collider_access.h"

typedef enum OrderEffect {
    ORDER_NOTHING,
    ORDER_WRITES, // and writes memory that other threads may see, by a store or an atomic operation
    ORDER_ENDS
} OrderEffect;

OrderEffect gr_sync_effect(const PtxInstr *i);

// A barrier of threads of one block. *whole: of all of them, and it is barrier 0. *zero: it may be barrier 0.
bool gr_sync_is_barrier(const PtxInstr *i, bool *whole, bool *zero);

// Of a module, before anything is inserted.
typedef struct OrderModule {
    bool called; // functions that are called have barriers 0, or may have
    bool maps;   // or name other blocks' shared memory
} OrderModule;
OrderModule gr_sync_module(const PtxModule *m);

// Whether one place of shared memory may have two generic addresses in the kernel `f`: its block's own one, and one
// that mapa makes. Bulk copies to shared memory of a cluster name it by the block's own addresses.
bool gr_sync_aliases(const OrderModule *m, const PtxFunc *f);

// Whether each barrier 0 that threads of the kernel `f` may come to is one of the whole block, in `f` itself and
// without a guard; and there is one.
bool gr_sync_can_meet(const OrderModule *m, const PtxFunc *f);

// Where threads may end that have passed no barrier of the block, in a kernel that has some: (*early)[*n_early], which
// live as long as `arena`.
gr_status gr_sync_early_ends(const PtxFunc *f, Arena *arena, const PtxStmt ***early, unsigned *n_early,
                             gr_error *err);

// What ends the segment of `s`, if the thread comes there in any case and nothing lies between that touches memory or
// waits; else NULL.
const PtxStmt *gr_sync_straight_end(const PtxStmt *s);

// Whether a thread may look at memory by weak loads again and again, until another one has stored.
bool gr_sync_polls_in_loops(const PtxFunc *f, const struct Pace *p);

#endif
