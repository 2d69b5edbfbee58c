// SPDX-License-Identifier: Apache-2.0
// hold — the race-directed schedule: who has just made an access is held while others run.
//
// The collider pauses after each access and looks again. By default the pause is virtual time, and who meets whom in it is
// chance. Here it has no length: the split is held until nobody else can make progress, on this device or (the driver sees to
// that) anywhere, or until others have executed so much that they may be polling for something which the
// held one will write. Then one is released: of those held the one whose key, drawn when it was held, is lowest. A window with a high key
// so outlasts many of others, and how many accesses of others it outlasts has any order of magnitude: it outlasts m
// of them with probability 1 / (m + 1).
//
// Of a warp that opens a window together, only a part may be held, so that lanes meet lanes; and lanes that wait for held ones
// at a place where they would rejoin may go ahead without them, as PTX promises no reconvergence. A split may also be held before an
// access (hooks.c): who opens no windows, because its accesses are strong, must be late at times, too.
#include "vm/policy.h"

#include <stdlib.h>

enum {
    BEFORE_ONE_IN = 2, // holds that are no windows

    HELD_MAX = 256, // splits of a launch
    BUDGET = 1024,
    BUDGET_PER_WARP = 32,
    BUDGET_SHIFTS = 5,
    IN_VAIN = 64, // after so many holds that ended with the budget, budgets are halved
    NS_SHIFT = 4, // 16 ns that everybody sleeps count as one instruction
};

typedef struct VmHeld {
    VmWarpRest *warp;
    uint64_t id, deadline;
    uint32_t key;
} VmHeld;

static uint64_t budget(VmLaunch *l) {
    uint64_t b = (uint64_t)(BUDGET + BUDGET_PER_WARP * l->n_ready)
                 << gr_rng_below(&l->hold_rng, BUDGET_SHIFTS);
    uint32_t less = l->held_in_vain / IN_VAIN;
    return b >> (less < 6 ? less : 6);
}

static void release(VmLaunch *l, uint32_t k) {
    VmHeld h = l->held[k];
    l->held[k] = l->held[--l->n_held];
    l->device->n_held--;
    for (uint32_t s = 0; s < h.warp->n_splits; s++)
        if (h.warp->splits[s].held == h.id) {
            h.warp->splits[s].held = 0;
            gr_vm_split_set_state(h.warp, s, VM_SPLIT_READY);
        }
}

static uint32_t lowest(const VmLaunch *l) {
    uint32_t low = 0;
    for (uint32_t k = 1; k < l->n_held; k++)
        if (l->held[k].key < l->held[low].key)
            low = k;
    return low;
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
    }
    if (l->n_held == HELD_MAX)
        release(l, lowest(l));
    VmHeld h = {.warp = r,
                .id = ++l->held_ids,
                .deadline = d->executed + budget(l),
                .key = (uint32_t)(gr_rng_next(&l->hold_rng) >> 32)};
    l->held[l->n_held++] = h;
    d->n_held++;
    if (h.deadline < d->held_until)
        d->held_until = h.deadline;
    r->splits[s].held = h.id;
    r->splits[s].until = UINT64_MAX;
    gr_vm_split_set_state(r, s, VM_SPLIT_SLEEP);
    return true;
}

// Those whose budget is used up come back.
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

static void ran(VmLaunch *l, VmWarpRest *r, uint64_t n, bool yields) {
    (void)r;
    (void)yields;
    VmDevice *d = l->device;
    d->executed += n;
    if (d->executed >= d->held_until)
        expire(d);
}

// Else who sleeps between two looks would have the watchdog's time pass.
static void jumped(VmDevice *d, uint64_t ns) {
    d->executed += ns >> NS_SHIFT;
    if (d->executed >= d->held_until)
        expire(d);
}

static bool leave_behind(VmLaunch *l) { return gr_rng_below(&l->hold_rng, 2) == 0; }

bool gr_vm_holds(const VmDevice *d) { return d->n_held != 0; }

bool gr_vm_release(VmDevice *d) {
    VmLaunch *from = NULL;
    uint32_t key = 0;
    for (VmLaunch *l = d->active; l; l = l->next) {
        if (!l->n_held)
            continue;
        uint32_t k = l->held[lowest(l)].key;
        if (!from || k < key) {
            from = l;
            key = k;
        }
    }
    if (from)
        release(from, lowest(from));
    return from != NULL;
}

void gr_vm_hold_end(VmLaunch *l) {
    l->device->n_held -= l->n_held;
    l->n_held = 0;
    free(l->held);
    l->held = NULL;
}

const VmPolicy gr_vm_policy_directed = {
    .ran = ran, .hold = hold, .leave_behind = leave_behind, .jumped = jumped};
