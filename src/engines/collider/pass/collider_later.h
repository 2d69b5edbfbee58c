// SPDX-License-Identifier: Apache-2.0
// collider_later — asynchronous operations that a thread issues later than the program says.
//
// A bulk copy that completes by an mbarrier, and st.async, are performed within a fraction of a microsecond, mostly
// before a thread that should have waited for the mbarrier looks. They may be performed at any time before its phase
// ends, so the thread may as well issue them later. But other threads wait for them: it must not wait itself before. So
// on a GPU (ColliderOptions.holds) the operation, with registers of its own, stands again before whatever may wait, and
// the thread issues it at the one place or at the other:
//
//     @issues st.async… [a], v, [mbar];         where the program has it
//     barrier.cluster.arrive;                   others may go on behind their barrier.cluster.wait,
//     @held st.async… [a'], v', [mbar'];        and have not waited for the mbarrier
//     barrier.cluster.wait;
//
// What may wait is everything but arithmetic, weak loads and stores, jumps forward, asynchronous operations and
// arrivals. The newest operation is issued first, because without this code the oldest is. Of bulk copies the
// destination is clobbered until then, and is looked at before: nobody can know that the copy has ended, so a thread
// that wrote there races with it.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_LATER_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_LATER_H

#include "engines/collider/pass/collider_async.h"

// Around what is inserted before the operation of `a`: at first, outside of its window, which sets w->issues, NULL
// where it is not issued later; and as the last of its window. `ends`: of a bulk copy whose destination is clobbered;
// else NULL.
gr_status gr_later_prepare(ColliderWork *w, Access *a);
gr_status gr_later_take(ColliderWork *w, Access *a, const CopyEnds *ends);
// When the function has been rewritten: where it may wait, and at its beginning `at`.
gr_status gr_later_finish(ColliderWork *w, PtxFunc *f, PtxStmt *at);

#endif
