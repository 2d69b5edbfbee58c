// SPDX-License-Identifier: Apache-2.0
// hooks — what happens now and then before a memory access of the program: a switch to another split, or the parting of
// a converged warp. The seed draws both, about one access in VmConfig.split_one_in.
//
// Without the parting, lanes of a warp that never branch would always move together, and a missing __syncwarp could not
// show.
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/extend.h"
#include "vm/core/launch.h"
#include "vm/core/policy.h"
#include "vm/core/warp.h"

enum { FIRST_ONE_IN = 4, HOLD_NS = 8192, HOLD_SHIFTS = 12 };

void gr_vm_draw_countdown(VmLaunch *l) {
    uint32_t n = l->device->config.split_one_in;
    if (n > INT32_MAX / 2)
        n = INT32_MAX / 2;
    // A short kernel must get its share too: the first ones come soon, later ones as rarely as configured.
    uint32_t early = FIRST_ONE_IN + l->n_hooks / 2;
    if (early < n) {
        n = early;
        l->n_hooks++;
    }
    l->access_countdown = n ? (int32_t)(1 + gr_rng_below(&l->rng, 2 * n)) : INT32_MAX;
}

// A proper, non-empty part of `mask`, which has at least two lanes.
static uint32_t random_part(VmLaunch *l, uint32_t mask) {
    uint32_t part;
    do
        part = mask & (uint32_t)gr_rng_next(&l->rng);
    while (!part || part == mask);
    return part;
}

// A part as programs that use parts of warps make it: halves, or groups of 8, 4, 2 or 1 in turn; or any.
static uint32_t usual_part(VmLaunch *l, uint32_t mask) {
    static const uint32_t groups[] = {0x0000ffff, 0x00ff00ff, 0x0f0f0f0f, 0x33333333, 0x55555555};
    uint32_t how = gr_rng_below(&l->hold_rng, 8);
    uint32_t part = mask & groups[gr_rng_below(&l->hold_rng, 4) ? 0 : gr_rng_below(&l->hold_rng, 5)];
    return how < 6 && part && part != mask ? part : random_part(l, mask);
}

// The running split stays away for a while, of any order of magnitude: one that is parted only for a moment catches up
// unnoticed.
static void hold(VmWarp *w, const VmInsn *i) {
    VmWarpRest *r = rest_of(w);
    VmLaunch *l = r->launch;
    const VmPolicy *policy = l->device->policy;
    if (policy && policy->strict)
        return;
    if (policy && policy->hold && policy->hold(r, r->cur, i->site, false)) {
        w->stop = VM_STOP_WAIT;
        return;
    }
    uint64_t ns = gr_rng_below(&l->rng, HOLD_NS) >> gr_rng_below(&l->rng, HOLD_SHIFTS);
    // Without memory the split does not sleep.
    if (ns && gr_vm_sleep_until(r, *l->clock_ps + ns * 1000))
        w->stop = VM_STOP_WAIT;
}

// The running split becomes two that the program does not know of. Both go on at `pc`.
static void part(VmWarp *w, const VmInsn *pc, uint32_t lanes, const VmInsn *rejoin) {
    VmWarpRest *r = rest_of(w);
    gr_vm_diverge(w, lanes, pc, pc, rejoin);
    VmSplit *a = &r->splits[r->cur], *b = &r->splits[r->n_splits - 1];
    a->kin |= b->mask;
    b->kin |= a->mask;
}

bool gr_vm_access_hook(VmWarp *w, const VmInsn *i) {
    VmWarpRest *r = rest_of(w);
    VmLaunch *l = r->launch;
    if (i->tagged)
        return false; // the next access of the program will do
    gr_vm_draw_countdown(l);
    w->budget = l->access_countdown;
    if (!l->device->config.split_one_in)
        return false;
    uint32_t mask = split_of(w)->mask;
    if ((mask & (mask - 1)) && gr_rng_below(&l->rng, 2) == 0) {
        bool holds = l->device->policy && l->device->policy->hold;
        part(w, i, holds ? usual_part(l, mask) : random_part(l, mask), i->rejoin);
        hold(w, i);
        return true;
    }
    if (l->device->policy && l->device->policy->strict)
        return false;
    stop_at(w, i, VM_STOP_YIELD);
    if (gr_rng_below(&l->rng, 2) == 0)
        hold(w, i);
    return true;
}

typedef struct Pause {
    const VmInsn *at;
    uint32_t site;
    void (*held)(VmWarp *w, const VmInsn *i);
} Pause;

static bool hold_split(VmWarp *w, const Pause *p, uint32_t s, uint32_t lanes) {
    VmWarpRest *r = rest_of(w);
    if (!r->launch->device->policy->hold(r, s, p->site, true))
        return false;
    uint32_t mask = w->mask, runs = r->cur;
    r->cur = s;
    w->mask = lanes;
    p->held(w, p->at);
    r->cur = runs;
    w->mask = mask;
    return true;
}

bool gr_vm_hold(VmWarp *w, const VmInsn *i, uint32_t site, void (*held)(VmWarp *w, const VmInsn *i)) {
    VmWarpRest *r = rest_of(w);
    VmLaunch *l = r->launch;
    uint32_t mask = split_of(w)->mask;
    Pause p = {i, site, held};
    if (!l->device->policy || !l->device->policy->hold)
        return false;
    // Without this lanes would always be held together, and never meet each other.
    bool parts = w->mask == mask && (mask & (mask - 1)) && gr_rng_below(&l->hold_rng, 4);
    uint32_t lanes = parts ? usual_part(l, mask) : 0;
    if (lanes) {
        part(w, i + 1, lanes, i->rejoin);
        (void)hold_split(w, &p, r->n_splits - 1, lanes);
        if (gr_rng_below(&l->hold_rng, 8)) // else the rest goes on
            (void)hold_split(w, &p, r->cur, mask & ~lanes);
        return true;
    }
    if (!hold_split(w, &p, r->cur, w->mask))
        return false;
    stop_at(w, i + 1, VM_STOP_WAIT);
    return true;
}

// Changes from one quantum to the next.
unsigned gr_vm_rotation(VmWarp *w) { return rest_of(w)->rotate; }
