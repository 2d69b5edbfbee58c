// SPDX-License-Identifier: Apache-2.0
// order_internal — what order.c, barriers.c, launches.c, sync.c and async.c share.
#ifndef GR_ENGINES_EXACT_ORDER_ORDER_INTERNAL_H
#define GR_ENGINES_EXACT_ORDER_ORDER_INTERNAL_H

#include "engines/exact/order/order.h"

// What the lane knows of others. A reference of the caller's own.
Clock *gr_order_base(Block *b, Warp *w, uint32_t lane);
// The same but for the lane's own cp.async.
Clock *gr_order_others(Block *b, Warp *w, uint32_t lane);
// Adds the own cp.async of the lanes, as far as each has waited for them.
void gr_order_add_waited(Clock **to, const Block *b, const Warp *w, uint32_t mask);
// What several lanes know, with their own pasts. A reference of the caller's own.
Clock *gr_order_snapshots(Block *b, Warp *w, uint32_t mask);
// What lanes know of operations they waited for goes into their clocks, before anything is done with these. Lanes of
// `together` are about to know all that the others do: operations of the whole warp are left to the caller, in what is
// returned.
Clock *gr_order_flush_waited(Block *b, Warp *w, uint32_t together);
// The lanes released something: what they do from now on is not part of it.
void gr_order_bump(Order *o, Block *b, Warp *w, uint32_t mask);
void gr_order_learn(Order *o, Block *b, Warp *w, uint32_t mask, Clock *c);

void gr_order_forget_lanes(Warp *w); // their own clocks
void gr_order_forget_joined(Order *o);

// launches.c
// A new block instance's number; 0: out of memory.
uint64_t gr_order_new_id(Order *o, const BlockInfo *info);
BlockInfo *gr_order_own_info(Order *o, uint64_t id); // of one that is needed
void gr_order_free_launch(Order *o, Launch *l);

// barriers.c
void gr_order_drop_phase(Order *o, size_t k);

// sources.c
// Leaves out sources to which no thread can belong any more, and what is known of them.
void gr_sources_sweep(Sweep *s, Sources *x);

// sync.c
// Marks those of threads whose fences are asked about, and drops those of others.
void gr_order_mark_fences(Order *o);
void gr_order_sweep_fences(Sweep *s);
// sweep.c: something that is marked is of that block instance; the clock names such a one.
bool gr_order_is_needed(const Order *o, uint64_t id);
bool gr_order_names_needed(const Order *o, const Clock *c);
LaneSync *gr_order_lane_sync(Order *o, Warp *w, uint32_t lane);
void gr_order_lane_sync_free(LaneSync *s);
void gr_order_fences_free(Map *fenced);
// Adds what the threads of the block that c is of released with that scope.
void gr_sources_add(Order *o, Sources *s, const Block *b, PtxScope scope, Clock *c);
// What threads that are that near to threads of the block learn there; the reference is the sources'.
Clock *gr_sources_of(Order *o, Sources *s, const Block *b, unsigned relation);
void gr_sources_clear(Sources *s);
// The lane writes, or arrives, at a place: what others may acquire there from it. The fences and the release operations
// that came before count too.
typedef struct PlaceOp {
    uint64_t place; // gr_place
    PtxSem sem;
    PtxScope scope;
} PlaceOp;
void gr_order_release(Order *o, Block *b, Warp *w, uint32_t lane, const PlaceOp *p, Sources *to);
// The lane reads, or was told of a phase: acquires, or may do so later.
// `all`: what it learns besides, whatever the scopes.
void gr_order_acquire(Order *o, Block *b, Warp *w, uint32_t lane, const PlaceOp *p, Sources *from,
                      Clock *all);
// A fence of that scope takes what the lane's reads have left for it.
void gr_order_acquire_pending(Order *o, Block *b, Warp *w, uint32_t lane, PtxScope scope);
// A strong write of the lane at that place may end a release pattern.
bool gr_order_has_released(const Warp *w, uint32_t lane, uint64_t place);
void gr_snap_set(Snap *s, Clock *base, uint32_t epoch);
// Bytes at an address, or in the memory of that block; size 0: an mbarrier, or a cluster's barrier.
static inline uint64_t gr_place(uint64_t owner, uint64_t at, uint32_t size) {
    return (owner ? UINT64_C(1) << 60 | owner << 24 | at : at) * 8 +
           (size ? 1u + (unsigned)__builtin_ctz(size) : 0);
}
void gr_order_fence(Order *o, Block *b, Warp *w, uint32_t mask, PtxSem sem, PtxScope scope);
// chance.c
// What lanes learn by a fence.sc; and what others may learn of it, as soon as its lanes know themselves of all that it
// acquires.
void gr_sc_learn(Order *o, Block *b, Warp *w, uint32_t mask, PtxScope scope);
void gr_sc_tell(Order *o, Block *b, Warp *w, uint32_t mask, PtxScope scope);
// The lane accesses a place by a strong operation: before it has happened, and after.
void gr_talk_before(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s, bool writes);
void gr_talk_after(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s, bool writes);
// Whether a fence.sc that came behind what lane `lane` did at p leads to the viewer: by strong accesses it has seen
// what was written behind that fence. A fence behind those accesses would order the two.
bool gr_sc_heard(const Order *o, const View *v, const Point *p, uint32_t lane);
// The viewer raced with what lane `lane` did at p, which came first: that leads here, too.
void gr_talk_raced(Order *o, const View *v, const Point *p, uint32_t lane);
void gr_talks_free(Map *talks);
void gr_sc_order_clear(ScOrder *x);
void gr_sc_forget_cluster(Order *o, uint64_t cluster);
void gr_sc_forget(Order *o); // all fences
// Blocks of running launches whose fences others may learn of are needed; what nobody asks of any more goes.
void gr_sc_mark(Order *o);
void gr_sc_sweep(Sweep *s);

void gr_order_fence_proxy(Order *o, Block *b, Warp *w, const VmSyncEvent *e);
// A thread that knew of `p` has fenced proxies since, and the viewer knows of that.
bool gr_order_fenced(const Order *o, const View *v, const Point *p, uint32_t lane, bool chance);
// The clock says so, by chance at least.
bool gr_clock_has_by_chance(const Order *o, const Clock *c, const Point *p, uint32_t lane);
bool gr_clock_has(const Order *o, const Clock *c, const Point *p, uint32_t lane);
void gr_order_vars_free(Map *vars);

// async.c
void gr_order_op_free(Order *o, Op *op);
void gr_mbar_clear(Mbar *m);
// Up to which number all the block's cp.async have been waited for by their threads.
uint32_t gr_order_all_waited(const Block *b);

#endif
