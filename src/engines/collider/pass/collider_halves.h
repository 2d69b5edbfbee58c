// SPDX-License-Identifier: Apache-2.0
// collider_halves — which warps, blocks and clusters of a launch are in the one half of them, and how one half begins
// late.
//
// What finds races is that threads wait differently long (docs/detection-gpu.md, "Short waits"). So one half of the
// warps and one half of the blocks are quick (collider_time.h). Neighbours are never in the same half, and the halves
// change places from launch to launch, and from seed to seed.
//
// Blocks that wait for each other at barriers of their cluster are as quick as the slowest of them, and then all
// clusters are alike. So with every second pair of seeds or launches it is one half of the clusters that is quick.
//
// The kinds of launches in which threads keep what they access go further, if few threads are in them and they are
// among a kernel's first (WaitKind.late): some warps begin late. What the early ones keep (collider_segment.h) sees
// whatever the late ones do then, however many accesses both of them make before. Which ones are late:
//
//     GR_LATE_WARPS     of two neighbours one, in one block and in two
//     GR_LATE_BLOCKS    of two neighbouring blocks one: where warps meet at barriers, blocks with a late one each are
//                       all as late. In one block of two pairs of warps one
//     GR_LATE_FOURTH    one warp of four, or of two: for races in which one warp has to be later than several others
//
// Where the early ones hardly wait in windows (WaitKind.few), the late ones are late by more than these mostly take to
// come to the segment's end, and again behind each of the first HALVES_BARRIERS barriers of their block. Where they
// wait as elsewhere, which takes longer, it is so in the kernel's first launch alone, once, and by that, a half or a
// quarter of it.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_HALVES_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_HALVES_H

#include "base/str.h"
#include "engines/collider/pass/collider_access.h"

enum {
    HALVES_THREADS = 512, // in launches of so many at most
    HALVES_BARRIERS = 12,
    HALVES_ORDERS = 3, // that late, half of it or a quarter, where the others wait as elsewhere
    HALVES_EARLIER = 8 // times less: so long L is in the early ones where they hardly wait
};

// Code is written to `text`. A register that gets the number of the thread's warp in its block.
const char *gr_halves_warp(StrBuf *text, PtxFunc *f);
// That of its block in the grid, which is in a register already (collider_pace.h), or of its cluster.
const char *gr_halves_block(const ColliderWork *w, StrBuf *text, PtxFunc *f, const char *turn);
// `p`: whether the block or warp of that number is in one half of them; the other one at the next `turn`.
void gr_halves_of(StrBuf *text, PtxFunc *f, const char *number, const char *turn, const char *p);

// In a kernel at `at`, behind what sets L and whether threads keep what they access: sets `late`, makes L less in early
// warps, and has the late ones begin late.
gr_status gr_halves_begin(ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *late);
// Behind a barrier of the block, before `at`: the same, where the kernel meets `left` more barriers of `all`
// (collider_segment.h).
gr_status gr_halves_again(ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *late,
                          const PtxReg *left, unsigned all);

#endif
