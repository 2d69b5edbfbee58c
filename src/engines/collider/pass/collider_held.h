// SPDX-License-Identifier: Apache-2.0
// collider_held — copies that a thread holds back until it has to wait for them.
//
// A GPU performs a cp.async within a microsecond of its issue, mostly before a thread that should have waited looks.
// But it may do so at any time until the thread that issued the copy waits, and only that thread can wait for it. So on
// a GPU (ColliderOptions.holds) a thread may keep the copy's addresses in registers in place of the copy, and do the
// copy later itself, by a load and a store:
//
//     @!held cp.async.ca.shared.global [dst], [src], 4;      at the issue, behind what collider_async.h inserts there:
//                                                            the destination is clobbered
//     @held call __gr_copy_held, (…);                        later: both ends must be as they were, then the copy is
//                                                            done
//
// It is done before a wait that covers it, before cp.async.mbarrier.arrive, before the function calls or returns,
// before the next copy is held, while the thread itself waits in the window of a load from there (it sees the copy
// come, for which it should have waited), and by a draw in other windows. A thread comes late to that, so that it falls
// into other threads' windows. Groups stay as they are, as groups with fewer copies: the thread counts those that it
// has begun, and a wait that leaves the newest N alone covers the held copy when more than N began since.
//
// Until then nobody can know that the copy has ended, so whatever changed the source or the destination since the issue
// races with the copy.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_HELD_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_HELD_H

#include "engines/collider/pass/collider_async.h"

// The copy that a thread holds; one for all cp.async of a function.
struct HeldCopy {
    PtxReg *held;                           // whether there is one
    PtxReg *site, *dst, *src, *bytes, *sum; // what __gr_copy_held wants to know of it
    PtxReg *group;                          // how many groups the thread had begun before its own
    PtxReg *groups;                         // how many it has begun
    PtxSite of;                             // for what is inserted
};

// Before a function is rewritten: sets w->held, NULL where nothing is held.
gr_status gr_held_begin(ColliderWork *w, PtxFunc *f, HeldCopy *h, const GrSiteStatus *status);
// Around what is inserted before the cp.async: at first, outside of its window; and as the last of its window, when the
// destination is clobbered. `v` has what was read.
gr_status gr_held_prepare(ColliderWork *w, Copy *c);
gr_status gr_held_take(ColliderWork *w, Copy *c, const PtxOperand *v);
// In a window of `n` loads, before its delay at `at`.
gr_status gr_held_in_window(ColliderWork *w, const Access *a, unsigned n, PtxStmt *at);
// Behind a wait of a store, at `at`: a held copy may come or go without more waiting.
gr_status gr_held_at_store(ColliderWork *w, const Access *a, PtxStmt *at);
// When the function has been rewritten: at its waits and ends, and at its beginning `at`.
gr_status gr_held_finish(ColliderWork *w, PtxFunc *f, PtxStmt *at);

#endif
