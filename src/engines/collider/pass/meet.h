// SPDX-License-Identifier: Apache-2.0
// meet — the rewriting for `--attribute`. Windows are published at targets, and every store and atomic operation looks
// whether it touches one (engines/collider/device/meet.h has the protocol and why it is sound). It comes after the
// collider's rewriting, whose windows these are:
//
//     hash of the bytes' address, __gr_publish             hash of the bytes' address
//     ld.global.u32 %r1, [%rd1];      a target             ld.relaxed.sys  word of the table: does its tag match? ->
//                                     __gr_look
//     delay, second look, compare     the collider's       st.global.u32 [%rd1], %r1;      (weak: what was seen goes to
//     __gr_withdraw; met? -> __gr_met                      __gr_caught before the store, strong: after it)
#ifndef GR_ENGINES_COLLIDER_PASS_MEET_H
#define GR_ENGINES_COLLIDER_PASS_MEET_H

#include "ptx/ptx.h"

typedef struct MeetOptions {
    const char *suffix; // as ColliderOptions'
    // For each site, 0 or the number of its target + 1.
    const uint16_t *targets;
    // Stores and atomic operations look, and are made, up to so many nanoseconds late. To publish a window takes longer
    // than to look, and the thread that is to be met must have published by then. 0: no delay.
    uint32_t late_ns;
} MeetOptions;

// Rewrites all functions of `m`, which gr_collider_rewrite has rewritten. What writes memory in other ways than by
// stores and atomic operations (asynchronous copies and stores, matrices) is not looked up.
gr_status gr_meet_rewrite(PtxModule *m, const MeetOptions *o, gr_error *err);

#endif
