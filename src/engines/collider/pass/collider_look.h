// SPDX-License-Identifier: Apache-2.0
// collider_look — a wait in pieces, with a look behind each (ColliderOptions.thinned).
//
// A thread that looks once, when its wait is over, does not see a value that changed and changed back: poison and the
// store behind it, a lock that was taken and given back. So where the inserted code says which windows open, a wait of
// more than LOOK_NS is cut into at most LOOK_MOST pieces:
//
//     step = max(left / LOOK_MOST, LOOK_NS)
//     again: piece = min(left, step); left -= piece; nanosleep piece;
//            what is to be seen is loaded and compared
//            if left > LOOK_NS / 2, go to again
//
// The pieces together take as long as the wait, so that looking more often costs the loads alone. What is left of a
// wait at the end is at most half a piece, and is left out.
//
// Of an access of the whole warp (Access.together) a->guard is whether the warp performs it; no launch is held in its
// window.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_LOOK_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_LOOK_H

#include "engines/collider/pass/collider_time.h"

enum { LOOK_NS = 256, LOOK_MOST = 64 };

typedef struct Look {
    PtxLabel *again; // NULL: there is one look
    char left[DELAY_TEXT];
} Look;

// Where a thread of a launch that is held may wait for what comes.
typedef enum LookHeld {
    LOOK_HELD,
    LOOK_PASSES,  // only where the launch lets others pass
    LOOK_STAYS,   // only where it does not
    LOOK_NOT_HELD // nowhere: lanes that look together leave a window together
} LookHeld;

// A wait at `at`, as gr_collider_wait. Behind it go the loads and comparisons, and then gr_look_end.
gr_status gr_look_begin(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns,
                        Look *l);
gr_status gr_look_end(ColliderWork *w, const Access *a, PtxStmt *at, const Look *l, LookHeld held);
// The register of how the thread is held (device/hold.h), 0 when it is not or any more; NULL: no launch of the function
// ever is.
const PtxReg *gr_look_hold(ColliderWork *w, const Access *a);
// A wait before an access that has no window of its own, or none yet, without looks. In a launch that is held and lets
// others pass it may be longer.
gr_status gr_look_late(ColliderWork *w, const Access *a, PtxStmt *at);

#endif
