// SPDX-License-Identifier: Apache-2.0
// ready — which warps of a launch could run: a list to draw from, and the order of their waiting. Internal to the VM.
//
// A turn may be as short as a few instructions, so this is small and compact. The order links the numbers of warps, not
// the warps, each of which would cost a line of the cache.
#ifndef GR_VM_SCHED_READY_H
#define GR_VM_SCHED_READY_H

#include "vm/core/launch.h"
#include "vm/core/policy.h"
#include "vm/core/warp.h"

#define VM_NO_WARP UINT32_MAX

static inline void unlink_warp(VmLaunch *l, uint32_t id) {
    VmReadyLink k = l->link[id];
    if (k.older != VM_NO_WARP)
        l->link[k.older].newer = k.newer;
    else
        l->oldest = k.newer;
    if (k.newer != VM_NO_WARP)
        l->link[k.newer].older = k.older;
    else
        l->newest = k.older;
}

static inline void link_newest(VmLaunch *l, uint32_t id) {
    l->link[id] = (VmReadyLink){.older = l->newest, .newer = VM_NO_WARP};
    if (l->newest != VM_NO_WARP)
        l->link[l->newest].newer = id;
    else
        l->oldest = id;
    l->newest = id;
}

// Puts the warp into the launch's ready list. There is room for all resident warps (gr_vm_launch_reserve).
static inline void warp_ready(VmWarpRest *r) {
    VmLaunch *l = r->launch;
    if (r->ready_slot != UINT32_MAX)
        return;
    r->ready_slot = l->n_ready;
    l->ready[l->n_ready++] = r->id;
    link_newest(l, r->id);
    if (l->running)
        gr_vm_pct_preempts(l, r);
}

static inline void warp_unready(VmWarpRest *r) {
    VmLaunch *l = r->launch;
    if (r->ready_slot == UINT32_MAX)
        return;
    uint32_t last = l->ready[--l->n_ready];
    l->ready[r->ready_slot] = last;
    l->warp[last]->ready_slot = r->ready_slot;
    r->ready_slot = UINT32_MAX;
    unlink_warp(l, r->id);
}

static inline void count_state(VmWarpRest *r, uint8_t state, int by) {
    if (state == VM_SPLIT_READY)
        r->n_ready += (uint32_t)by;
    else if (state == VM_SPLIT_SLEEP)
        r->n_sleeping += (uint32_t)by;
    else if (state == VM_SPLIT_JOIN || state == VM_SPLIT_GATHER)
        r->n_joining += (uint32_t)by;
}

// Called when the numbers of the warp's ready and sleeping splits have changed.
static inline void warp_moved(VmWarpRest *r) {
    bool now = r->n_ready || r->n_sleeping;
    if (now != r->moving) {
        r->moving = now;
        r->block->moving += now ? 1u : -1u;
    }
    if (r->n_ready)
        warp_ready(r);
    else
        warp_unready(r);
}

static inline void split_set_state(VmWarpRest *r, uint32_t s, VmSplitState state) {
    count_state(r, r->splits[s].state, -1);
    r->splits[s].state = (uint8_t)state;
    count_state(r, (uint8_t)state, 1);
    warp_moved(r);
}

#endif
