// SPDX-License-Identifier: Apache-2.0
// collider_pace — which windows open, where the inserted code says so (ColliderOptions.thinned): the first ones of each
// place, later ones more and more rarely.
//
// What is first: in a launch the warps of the first blocks, PACE_WARPS of them; in a loop the first PACE_EACH times of
// a thread. A kernel begins with a threshold, 2^32 - 1 shifted right by one bit for each power of two that the number
// of warps in the blocks before is above PACE_WARPS, by PACE_RAREST at most. A number is made of the clock. Where it is
// not above the threshold, all places outside loops have windows in this thread, until its waits have become as short
// as they can (collider_time.h). In a loop each basic block has a threshold of its own, which begins as the kernel's
// and falls to half after each PACE_EACH windows that opened. The number is made anew at the block's first place, and
// the windows of all places in the block open or stay shut together:
//
//     mov.u32 c, %clock; mad.lo.u32 t, c, K, phase; mul.lo.u32 t, t, c; setp.le.u32 open, t, threshold;
//     @open bra window;        out of line: the delay, the repeated loads, the comparisons, and the threshold falls
//     back:
//
// The lanes of a warp read one clock, whatever each of them has executed before. So lanes with like thresholds decide
// alike, and a warp does not wait because one of 32 lanes would. The number is a square of the clock, times a constant,
// modulo 2^32: whatever the step of the clock from time to time, the numbers neither repeat nor rise slowly, so no loop
// is in step with the choice. The phase is made of the seed; ptxas does not know that all lanes have the same one, and
// so reads the clock into an ordinary register, not a uniform one. Where few lanes of a warp execute a block together,
// each time counts for more, so that the warp's windows become as rare as if all lanes were there. In a loop an access
// under a guard has a register of its own, which counts when the guard holds. A function has PACE_OWN such registers at
// most, for the blocks in the deepest loops. Its other blocks share one, and a bit for each tells that its first window
// has opened. Functions that are called count anew in each call.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_PACE_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_PACE_H

#include "engines/collider/pass/collider_access.h"

enum { PACE_WARPS = 512, PACE_EACH = 8, PACE_RAREST = 5, PACE_OWN = 4 };

// Of one function. A basic block here is one of the program's own code, numbered from 0 in the order of the text.
typedef struct Pace {
    Arena arena;
    const uint32_t *depth; // by block: how many loops it may be in
    uint32_t least_depth;  // of blocks with a threshold of their own
    uint32_t n_own;        // that there are so far
    uint32_t block;        // the one of the statement that is being rewritten
    bool ended;            // the next statement begins a block
    PtxReg *open;          // what was decided in block open_block
    uint32_t open_block;
    PtxStmt *last,
        *last_at; // the label behind the last window that may stay shut, and where more of its code goes
    const PtxReg *last_open;
    // Set at the function's start; NULL: not needed. The kernel's threshold; ~ of GrControl.shut; whether places
    // outside loops have windows.
    PtxReg *threshold, *shut, *outside, *phase;
    PtxReg *in_grid; // with a threshold: the block's number in the grid
    // Of the blocks that have none of their own: the threshold, the bits of the last 32 of them, how many of these bits
    // are taken.
    PtxReg *shared, *firsts;
    uint32_t n_firsts;
    bool entry;
    StrBuf thresholds; // what sets the registers of the blocks
} Pace;

gr_status gr_pace_begin(Pace *p, const ColliderWork *w, const PtxFunc *f);
void gr_pace_free(Pace *p);
// Before the program's statement `s` is rewritten; all of them in the order of the text.
void gr_pace_step(Pace *p, const PtxStmt *s);
// The block's number is needed (p->in_grid), windows or not.
void gr_pace_need_block(Pace *p, PtxFunc *f);
// After the last: at the function's start.
gr_status gr_pace_finish(Pace *p, ColliderWork *w, PtxFunc *f, PtxStmt *at);

// Code of a window that may stay shut. gr_pace_open decides at `at`; the window's code goes before gate->at, behind
// which gr_pace_close is called. `open` is NULL when the window always opens. Without a pace (w->pace NULL) that is so
// everywhere.
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
