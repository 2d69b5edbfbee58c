// SPDX-License-Identifier: Apache-2.0
// order_internal — what order.c, sync.c and async.c share.
#ifndef GR_EXACT_ORDER_INTERNAL_H
#define GR_EXACT_ORDER_INTERNAL_H

#include "exact/order.h"

// Clocks in a variable, which keeps its reference: take owns c, merge does not.
void gr_clock_take(Clock **to, Clock *c);
void gr_clock_add(Clock **to, uint64_t key, uint32_t v);
void gr_clock_merge(Clock **to, Clock *c);

// What the lane knows of others; with its own past; that of several lanes. References of the caller's own.
Clock *gr_order_base(Block *b, Warp *w, uint32_t lane);
Clock *gr_order_snapshot(Block *b, Warp *w, uint32_t lane);
Clock *gr_order_snapshots(Block *b, Warp *w, uint32_t mask);
// The lanes released something: what they do from now on is not part of it.
void gr_order_bump(Order *o, Block *b, Warp *w, uint32_t mask);
void gr_order_learn(Order *o, Block *b, Warp *w, uint32_t mask, Clock *c);

// sync.c
LaneSync *gr_order_lane_sync(Order *o, Warp *w, uint32_t lane);
// What the lane's fences released to threads that far away; NULL: nothing. Not the caller's reference.
Clock *gr_order_fence_released(const Block *b, const Warp *w, uint32_t lane, Relation r);
void gr_order_fence(Order *o, Block *b, Warp *w, uint32_t mask, PtxSem sem, PtxScope scope);
void gr_order_fence_proxy(Order *o, Block *b, Warp *w, const VmSyncEvent *e);
// The thread at `p` has fenced proxies since, and the viewer knows of that.
bool gr_order_fenced(const Order *o, const View *v, const Point *p, uint32_t lane);
void gr_order_vars_free(Map *vars);

// async.c
void gr_order_op_free(Op *op);

#endif
