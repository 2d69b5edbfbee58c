// SPDX-License-Identifier: Apache-2.0
// collider_pace — which windows open, where the inserted code says so (ColliderOptions.thinned): the first ones of each place, later ones
// more and more rarely.
//
// A place that no loop contains is always watched. In a loop each basic block has a register: a threshold, which begins at 2^32 - 1 and
// falls to half after each PACE_EACH windows that opened, down to one in 2^PACE_RAREST. At the block's first place a number is made of
// the clock, and where it is not above the threshold, the windows of all places in the block open this time:
//
//     mov.u32 t, %clock; mul.lo.u32 t, t, K; setp.le.u32 open, t, threshold;
//     @open bra window;        out of line: the delay, the repeated loads, the comparisons, and the threshold falls
//     back:
//
// The lanes of a warp read one clock, whatever each of them has executed before. So lanes with like thresholds decide alike, and a warp
// does not wait because one of 32 lanes would. K is odd and made of the seed: products with a steady step of the clock spread evenly over
// 32 bits (Knuth, volume 3, 6.4), so no loop is in step with the choice. An access under a guard has a register of its own, which
// counts when the guard holds.
#ifndef GR_PASSES_COLLIDER_PACE_H
#define GR_PASSES_COLLIDER_PACE_H

#include "engines/collider/pass/collider_access.h"

enum { PACE_EACH = 16, PACE_RAREST = 5 };

// Of one function. A basic block here is one of the program's own code, numbered from 0 in the order of the text.
typedef struct Pace {
    Arena arena;
    const bool *repeats; // by block: whether it may be in a loop
    uint32_t block;      // the one of the statement that is being rewritten
    bool ended;          // the next statement begins a block
    PtxReg *open;        // what was decided in block open_block
    uint32_t open_block;
    PtxStmt *last,
        *last_at; // the label behind the last window that may stay shut, and where more of its code goes
    const PtxReg *last_open;
    PtxReg *shut;      // ~ of GrControl.shut; NULL: not needed
    StrBuf thresholds; // what sets the registers at the function's start
} Pace;

gr_status gr_pace_begin(Pace *p, const ColliderWork *w, const PtxFunc *f);
void gr_pace_free(Pace *p);
// Before the program's statement `s` is rewritten; all of them in the order of the text.
void gr_pace_step(Pace *p, const PtxStmt *s);
// After the last: at the function's start.
gr_status gr_pace_finish(Pace *p, ColliderWork *w, PtxFunc *f, PtxStmt *at);

// Code of a window that may stay shut. gr_pace_open decides at `at`; the window's code goes before gate->at, behind which
// gr_pace_close is called. `open` is NULL when the window always opens. Without a pace (w->pace NULL) that is so everywhere.
typedef struct Gate {
    PtxReg *open;
    PtxStmt *at;
    Detour detour;
} Gate;
gr_status gr_pace_open(ColliderWork *w, Access *a, PtxStmt *at, Gate *gate);
gr_status gr_pace_close(Access *a, Gate *gate);
// The same for more code of the access for which `gate` was decided.
gr_status gr_pace_open_again(ColliderWork *w, Access *a, PtxStmt *at, Gate *gate);

#endif
