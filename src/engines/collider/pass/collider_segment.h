// SPDX-License-Identifier: Apache-2.0
// collider_segment — what a thread accessed stays watched until the thread orders something (ColliderOptions.thinned).
//
// A segment is what a thread does between two operations that may order its accesses before those of other threads: a
// barrier, a fence, a release or an acquire, a call, its end. Until its end nothing of the thread is ordered before
// anything of another thread. So whatever changes what the thread loaded or stored in the segment, and is not the
// thread's own store, races with that access, however much later it comes (theorems A.2 and A.3 of the paper). A window
// sees what comes while the thread waits in it; at the end of the segment the thread looks at all of its accesses
// again, whose windows so have lasted from the access to there at no further wait:
//
//     ld x, [a];  window;     kept: a, x
//     st [b], y;  window;     kept: b, y;  before the store: what the store overwrites is kept no more
//     …
//     bar.sync 0;             inserted: the other threads of the block come here, too
//     looks at a and b        inserted
//     bar.sync 0;             the program's
//
// What is kept, in kernels, in the launches that collider_time.h chooses: the last GR_SEGMENT_KEEPS words that were
// accessed while windows were open, in local memory; SEGMENT_MOST in all, so that it takes a bounded time. They are of
// weak loads and stores of 32-bit and 64-bit elements. Loads whose value may be thrown away count from where the thread
// uses it (collider_hoisted.h). A store or an atomic operation whose bytes are not known ends it all, without a look.
// One whose window stays shut ends it all as well; but in a loop, in a launch of few threads, it takes its own bytes
// out, as one whose window opens does, and counts as SEGMENT_SHUT words, until the thread has kept half of all words
// that it may keep.
// Loads of matrices by wmma are kept by the lanes that look at them. Asynchronous copies end the segment where they are
// issued: they write later.
//
// Before a barrier of the whole block there is another one, so that the thread looks when all others have done what
// they do before theirs. That costs no more than the program's barrier, and orders nothing that this one does not:
// between the two no thread does anything of the program. It is there in kernels in which all barriers 0 are of the
// whole block and none is in a called function, in blocks whose windows are all open. So a thread that loads before
// another one of its block stores sees it for certain where the value differs at the end, and of two that store the
// first one. At the end of a kernel there is no barrier to double: in small launches the threads count themselves and
// wait until all are there, for a bounded time.
//
// Late stores (ColliderOptions.holds). A poisoned store that comes right before such a place may be late: the garbage
// stays there until all threads have come and looked. Only then the store is done, all meet again, and look again:
//
//     st [b], y ^ 1;          in one case of two; kept: b, y, and that it is late
//     bar.sync 0;             inserted; a thread that loaded before the garbage came sees it now
//     looks;  st [b], y;      inserted
//     bar.sync 0;             inserted; a thread that loaded the garbage sees it gone
//     looks                   inserted
//     bar.sync 0;             the program's
//
// The thread does nothing with memory in between, and orders nothing, so nobody may look for the store before. Lanes of
// one warp that store to one place do it as they always do (collider_warp.c knows them). A thread that polls by weak
// loads could wait for a late store, before the barrier at which the store waits for it: functions with loops in which
// something is awaited have no late stores at barriers.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_SEGMENT_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_SEGMENT_H

#include "engines/collider/pass/collider_order.h"

enum {
    SEGMENT_MOST = 24,      // so many words a thread keeps
    SEGMENT_MOST_LATE = 96, // where some warps begin late and the others hardly wait (collider_halves.h)
    SEGMENT_SHUT = 2,       // such an access in a loop counts as so many, of the first half of them
    SEGMENT_FEW = 512,      // in launches of so many threads at most
    SEGMENT_BARRIERS = 32,  // before so many barriers it meets the others
    SEGMENT_END = 4 // times the longest delay: so long it waits at its end for the launch's others, at most
};

// Of one function.
struct Segment {
    PtxReg *entries,
        *kept;      // the address of the thread's GrKept; how many accesses it has kept in this segment
    PtxReg *late;   // whether the thread has a late store; NULL: no store can be late
    PtxReg *left;   // how many more words it may keep
    PtxReg *passes; // before how many barriers the thread goes on to meet the others
    // Whether it does so at the next one: of all threads of a block alike, because barriers go by it.
    PtxReg *whole;
    PtxReg *late_starts; // whether the thread's warp begins late (collider_halves.h)
    PtxReg *acts;        // whether the thread does anything at its end
    PtxReg *counts;      // whether this thread counts the launch, at its end
    PtxReg *small,
        *threads;       // whether the launch's threads wait for each other at their ends; how many they are
    bool accesses;      // there are some
    bool meets;         // before a barrier of the block there is another one
    bool polls;         // a thread may wait for another one's weak store in a loop
    bool late_at_end;   // there are stores that may be late there
    bool aliases;       // one place of shared memory may have two generic addresses
    const PtxStmt *own; // a statement of the program that writes, of which gr_segment_own has not been told
    PtxSite nowhere;
    Arena arena;
    const PtxStmt **early; // where threads end that may have passed no barrier, of which there are some
    unsigned n_early;
};

// Before a function is rewritten: sets w->segment, NULL where nothing is kept. *g is to be freed in any case. Of
// functions in which the user's options leave an access alone (`status`, by site) nothing is kept: it would need code
// at stores that were not chosen. So nothing is with `choose`.
gr_status gr_segment_begin(ColliderWork *w, const OrderModule *m, const PtxFunc *f,
                           const GrSiteStatus *status, struct Segment *g);
// Before the program's statement `s` (NULL: behind the last), when the windows of what comes before it are written;
// `nested` as in Access.
gr_status gr_segment_step(ColliderWork *w, PtxFunc *f, PtxStmt *s, bool nested);
// At `at`, in the window of a load or store `a`, whose elements are `values`, of `bits` bits.
gr_status gr_segment_keep(ColliderWork *w, Access *a, PtxStmt *at, const PtxOperand *values, unsigned bits,
                          GrRaceClass class);
gr_status gr_segment_keep_load(ColliderWork *w, Access *a, PtxStmt *at);
// The same of a load whose value the thread may throw away: it is looked at only behind gr_segment_used. `kept` becomes
// true where it is kept. *words: how many; 0: never.
gr_status gr_segment_keep_unused(ColliderWork *w, Access *a, PtxStmt *at, const PtxReg *kept,
                                 unsigned *words);
// Where `kept` holds, the thread uses what it loaded by the load `a` when it last came there. It does so once.
gr_status gr_segment_used(const ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *kept,
                          unsigned words);
// Whether the store `a` can be late.
bool gr_segment_may_be_late(const ColliderWork *w, const Access *a);
// At `at`, behind the garbage of such a store: in one case of two the store itself is late, and what goes to `over` is
// left out.
gr_status gr_segment_late(ColliderWork *w, Access *a, PtxStmt *at, const PtxOperand *stored,
                          const PtxReg *alone, PtxLabel *over);
// The store `a` is not done where it is late. Behind the code that goes before it.
gr_status gr_segment_store(ColliderWork *w, const Access *a);
void gr_segment_free(struct Segment *g);
// The store or atomic operation `a`: at `at`, in its window, and before it, where the window stays shut unless `open`
// holds.
gr_status gr_segment_own(ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *open);
// When the function has been rewritten: at its beginning `at`, behind what gr_pace_finish has inserted.
gr_status gr_segment_finish(ColliderWork *w, PtxFunc *f, PtxStmt *at);
// Before a module's functions are rewritten: what these call.
gr_status gr_segment_link(PtxModule *m, const ColliderOptions *o, const GrSiteStatus *status, gr_error *err);

#endif
