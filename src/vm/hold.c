// SPDX-License-Identifier: Apache-2.0
// hold — the race-directed schedule: who has just made an access is held while others run.
//
// The collider pauses after each access and looks again. By default the pause is virtual time, and who meets whom in it is
// chance. Here it has no length: the split is held until nobody else can make progress, on this device or (the driver sees to
// that) anywhere, or until others have executed so much that they may be polling for something which a
// held one will write. Then one is released.
//
// Which one decides which pairs of accesses meet. A launch takes one of three ways, so that five seeds in a row take them all: anybody; who
// has been held for longest, but for some who stay until only such are left, so that distant accesses meet too; or who
// has been held least often, so that all advance together.
//
// A warp that opens a window together may part, so that lanes meet lanes: into halves and the like, as programs part warps, or
// any sets; mostly both are held. Lanes that wait for held ones at a place where they would rejoin may go ahead, as PTX
// promises no reconvergence. A split may also be held before an access (hooks.c): who opens no windows, because its accesses
// are strong, must be late at times, too.
#include "vm/policy.h"

#include <stdlib.h>

enum {
    BEFORE_ONE_IN = 2, // holds that are no windows
    HELD_MAX = 256,    // splits of a launch
    QUIET = 512,       // warp instructions without a hold or a release: somebody polls
    QUIET_PER_WARP = 32,
    QUIET_SHIFTS = 4,
    LONGEST_SHIFT = 5, // so much longer nobody is held, quiet or not
    IN_VAIN = 64,      // after so many of either all that is halved
    SAME = 8,          // a launch that one is released from is so again, but once in so many times
    NS_SHIFT = 4,      // 16 ns that everybody sleeps count as one instruction
};

enum { ANYBODY, QUEUE, TOGETHER };
#define STAYS (UINT32_C(1) << 31) // in a key: until only such are left

typedef struct VmHeld {
    VmWarpRest *warp;
    uint64_t id, deadline;
    uint32_t key;
} VmHeld;

static uint64_t quiet(VmLaunch *l) {
    uint64_t n = (uint64_t)(QUIET + QUIET_PER_WARP * l->n_ready) << gr_rng_below(&l->hold_rng, QUIET_SHIFTS);
    uint32_t less = l->held_in_vain / IN_VAIN;
    return n >> (less < 6 ? less : 6);
}

static void release(VmLaunch *l, uint32_t k) {
    VmHeld h = l->held[k];
    l->held[k] = l->held[--l->n_held];
    l->device->n_held--;
    l->device->quiet_until = l->device->executed + quiet(l);
    for (uint32_t s = 0; s < h.warp->n_splits; s++)
        if (h.warp->splits[s].held == h.id) {
            h.warp->splits[s].held = 0;
            gr_vm_split_set_state(h.warp, s, VM_SPLIT_READY);
        }
}

static uint32_t next(VmLaunch *l) {
    uint32_t low = 0;
    if (l->way == ANYBODY)
        return gr_rng_below(&l->hold_rng, l->n_held);
    for (uint32_t k = 1; k < l->n_held; k++)
        if (l->held[k].key < l->held[low].key)
            low = k;
    return low;
}

static void begin(VmLaunch *l) {
    static const struct {
        uint8_t way, stay;
    } ways[] = {{ANYBODY, 0}, {QUEUE, 2}, {ANYBODY, 0}, {QUEUE, 1}, {TOGETHER, 0}};
    Rng rng = {l->number};
    uint64_t k = (l->device->config.seed + gr_rng_next(&rng) % 5) % 5;
    l->way = ways[k].way;
    l->stay = ways[k].stay;
    l->rank = (uint32_t)gr_rng_next(&l->hold_rng);
}

static uint32_t key_of(VmLaunch *l, const VmSplit *p) {
    uint32_t chance = (uint32_t)(gr_rng_next(&l->hold_rng) >> 32), most = (1 << 20) - 1;
    if (l->way == TOGETHER)
        return (p->windows < most ? p->windows : most) << 12 | chance >> 20;
    if (gr_rng_below(&l->hold_rng, 4) < l->stay)
        return STAYS | chance;
    return (uint32_t)l->held_ids & ~STAYS;
}

static bool hold(VmWarpRest *r, uint32_t s, bool window) {
    VmLaunch *l = r->launch;
    VmDevice *d = l->device;
    if (!window && gr_rng_below(&l->hold_rng, BEFORE_ONE_IN) == 0)
        return false;
    if (!l->held) {
        l->held = calloc(HELD_MAX, sizeof *l->held);
        if (!l->held)
            return false;
        begin(l);
    }
    if (l->n_held == HELD_MAX)
        release(l, next(l));
    VmSplit *p = &r->splits[s];
    uint64_t n = quiet(l);
    VmHeld h = {
        .warp = r, .id = ++l->held_ids, .deadline = d->executed + (n << LONGEST_SHIFT), .key = key_of(l, p)};
    l->held[l->n_held++] = h;
    d->n_held++;
    d->quiet_until = d->executed + n;
    if (h.deadline < d->held_until)
        d->held_until = h.deadline;
    p->held = h.id;
    p->windows += window;
    p->until = UINT64_MAX;
    gr_vm_split_set_state(r, s, VM_SPLIT_SLEEP);
    return true;
}

// Those who have been held for longest come back.
static void expire(VmDevice *d) {
    d->held_until = UINT64_MAX;
    for (VmLaunch *l = d->active; l; l = l->next)
        for (uint32_t k = 0; k < l->n_held;) {
            if (l->held[k].deadline <= d->executed) {
                release(l, k);
                l->held_in_vain++;
            } else {
                if (l->held[k].deadline < d->held_until)
                    d->held_until = l->held[k].deadline;
                k++;
            }
        }
}

static void count(VmDevice *d, uint64_t n) {
    d->executed += n;
    if (!d->n_held)
        return;
    if (d->executed >= d->held_until)
        expire(d);
    if (d->executed >= d->quiet_until) {
        VmLaunch *l = gr_vm_release(d);
        if (l)
            l->held_in_vain++;
    }
}

static void ran(VmLaunch *l, VmWarpRest *r, uint64_t n, bool yields) {
    (void)r;
    (void)yields;
    count(l->device, n);
}

// Else who sleeps between two looks would have the watchdog's time pass.
static void jumped(VmDevice *d, uint64_t ns) { count(d, ns >> NS_SHIFT); }

static bool leave_behind(VmLaunch *l) { return gr_rng_below(&l->hold_rng, 2) == 0; }

bool gr_vm_holds(const VmDevice *d) { return d->n_held != 0; }

VmLaunch *gr_vm_release(VmDevice *d) {
    VmLaunch *from = NULL;
    for (VmLaunch *l = d->active; l; l = l->next)
        if (l->n_held && (!from || l->rank < from->rank))
            from = l;
    if (!from)
        return NULL;
    if (gr_rng_below(&from->hold_rng, SAME) == 0)
        from->rank = (uint32_t)gr_rng_next(&from->hold_rng);
    release(from, next(from));
    return from;
}

void gr_vm_hold_end(VmLaunch *l) {
    l->device->n_held -= l->n_held;
    l->n_held = 0;
    free(l->held);
    l->held = NULL;
}

const VmPolicy gr_vm_policy_directed = {
    .ran = ran, .hold = hold, .leave_behind = leave_behind, .jumped = jumped};
