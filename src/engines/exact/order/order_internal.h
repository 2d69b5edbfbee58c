// SPDX-License-Identifier: Apache-2.0
// order_internal — what order.c, barriers.c, launches.c, sync.c and async.c share.
#ifndef GR_ENGINES_EXACT_ORDER_ORDER_INTERNAL_H
#define GR_ENGINES_EXACT_ORDER_ORDER_INTERNAL_H

#include "engines/exact/order/order.h"

// What the lane knows of others, as a reference of the caller's own.
Clock *gr_order_base(Block *b, Warp *w, uint32_t lane);
// What the lane knows of others but for its own cp.async.
Clock *gr_order_others(Block *b, Warp *w, uint32_t lane);
// Adds the own cp.async of the lanes, as far as each has waited for them.
void gr_order_add_waited(Clock **to, const Block *b, const Warp *w, uint32_t mask);
// What several lanes know, with their own pasts, as a reference of the caller's own.
Clock *gr_order_snapshots(Block *b, Warp *w, uint32_t mask);
// Puts what lanes know of operations they waited for into their clocks; to be called before anything is done with
// these. Lanes of `together` are about to know all that the others do: the result has the operations of the whole warp,
// for the caller to add.
Clock *gr_order_flush_waited(Block *b, Warp *w, uint32_t together);
// The lanes have released something: what they do from now on is not part of it.
void gr_order_bump(Order *o, Block *b, Warp *w, uint32_t mask);
void gr_order_learn(Order *o, Block *b, Warp *w, uint32_t mask, Clock *c);

void gr_order_forget_lanes(Warp *w); // their own clocks
void gr_order_forget_joined(Order *o);

// launches.c
// The number of a new block instance; 0: out of memory.
uint64_t gr_order_new_id(Order *o, const BlockInfo *info);
BlockInfo *gr_order_own_info(Order *o, uint64_t id); // of one that is needed
void gr_order_free_launch(Order *o, Launch *l);

// barriers.c
void gr_order_drop_phase(Order *o, size_t k);

// sources.c
// Drops sources to which no living thread can belong, and filters the others.
void gr_sources_sweep(Sweep *s, Sources *x);

// sync.c
// Marks the threads whose fences may be asked about, and drops the fences of others.
void gr_order_mark_fences(Order *o);
void gr_order_sweep_fences(Sweep *s);
// sweep.c: something that is marked is of that block instance; the clock names such a one.
bool gr_order_is_needed(const Order *o, uint64_t id);
bool gr_order_names_needed(const Order *o, const Clock *c);
LaneSync *gr_order_lane_sync(Order *o, Warp *w, uint32_t lane);
void gr_order_lane_sync_free(LaneSync *s);
void gr_order_fences_free(Map *fenced);
// Adds c, what threads of block b released with that scope.
void gr_sources_add(Order *o, Sources *s, const Block *b, PtxScope scope, Clock *c);
// What threads that are that near to threads of the block learn there; the sources keep the reference.
Clock *gr_sources_of(Order *o, Sources *s, const Block *b, unsigned relation);
void gr_sources_clear(Sources *s);
// A lane writes, or arrives, at a place: others may acquire from it there. Its earlier fences and release operations
// count too.
typedef struct PlaceOp {
    uint64_t place; // gr_place
    PtxSem sem;
    PtxScope scope;
} PlaceOp;
void gr_order_release(Order *o, Block *b, Warp *w, uint32_t lane, const PlaceOp *p, Sources *to);
// The lane reads, or hears of a phase: it acquires, or may do so later. `all`: what it learns besides, whatever the
// scopes.
void gr_order_acquire(Order *o, Block *b, Warp *w, uint32_t lane, const PlaceOp *p, Sources *from,
                      Clock *all);
// A fence of that scope takes what the lane's reads have left pending.
void gr_order_acquire_pending(Order *o, Block *b, Warp *w, uint32_t lane, PtxScope scope);
// A strong write of the lane at that place may end a release pattern.
bool gr_order_has_released(const Warp *w, uint32_t lane, uint64_t place);
void gr_snap_set(Snap *s, Clock *base, uint32_t epoch);
// The key of bytes at an address, or in that block's memory; size 0: an mbarrier, or a cluster's barrier.
static inline uint64_t gr_place(uint64_t owner, uint64_t at, uint32_t size) {
    return (owner ? UINT64_C(1) << 60 | owner << 24 | at : at) * 8 +
           (size ? 1u + (unsigned)__builtin_ctz(size) : 0);
}
void gr_order_fence(Order *o, Block *b, Warp *w, uint32_t mask, PtxSem sem, PtxScope scope);
// chance.c
// The lanes learn what a fence.sc tells them.
void gr_sc_learn(Order *o, Block *b, Warp *w, uint32_t mask, PtxScope scope);
// Others may learn of the lanes' fence.sc; called once its lanes know all that it acquires.
void gr_sc_tell(Order *o, Block *b, Warp *w, uint32_t mask, PtxScope scope);
// Called before and after a strong operation of the lane at a place.
void gr_talk_before(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s, bool writes);
void gr_talk_after(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s, bool writes);
// True: a fence.sc behind what lane `lane` did at p leads to the viewer, whose strong accesses have seen what was
// written behind that fence. A fence behind those accesses would order the two.
bool gr_sc_heard(const Order *o, const View *v, const Point *p, uint32_t lane);
// The viewer raced with what lane `lane` did at p, which came first: that leads here, too.
void gr_talk_raced(Order *o, const View *v, const Point *p, uint32_t lane);
void gr_talks_free(Map *talks);
void gr_sc_order_clear(ScOrder *x);
void gr_sc_forget_cluster(Order *o, uint64_t cluster);
void gr_sc_forget(Order *o); // all fences
// Marks blocks of running launches whose fences others may learn of.
void gr_sc_mark(Order *o);
void gr_sc_sweep(Sweep *s);

void gr_order_fence_proxy(Order *o, Block *b, Warp *w, const VmSyncEvent *e);
// A thread that knew of `p` has fenced proxies since, and the viewer knows of that.
bool gr_order_fenced(const Order *o, const View *v, const Point *p, uint32_t lane, bool chance);
// The clock has the point, by chance at least.
bool gr_clock_has_by_chance(const Order *o, const Clock *c, const Point *p, uint32_t lane);
bool gr_clock_has(const Order *o, const Clock *c, const Point *p, uint32_t lane);
void gr_order_vars_free(Map *vars);

// async.c
void gr_order_op_free(Order *o, Op *op);
void gr_mbar_clear(Mbar *m);
// The number up to which the threads have waited for all the block's cp.async.
uint32_t gr_order_all_waited(const Block *b);

#endif
