// SPDX-License-Identifier: Apache-2.0
// policy — round robin, and a schedule that is random at every step.
#include "vm/core/policy.h"
#include "vm/core/launch.h"

enum { RANDOM_QUANTUM = 8 }; // warp instructions, at most

const VmPolicy *gr_vm_policy(VmSchedule s) {
    switch (s) {
    case VM_SCHEDULE_RR: return &gr_vm_policy_rr;
    case VM_SCHEDULE_RANDOM: return &gr_vm_policy_random;
    case VM_SCHEDULE_PCT: return &gr_vm_policy_pct;
    case VM_SCHEDULE_DIRECTED: return &gr_vm_policy_directed;
    case VM_SCHEDULE_DEFAULT: break;
    }
    return NULL;
}

// ---- Round robin: the warp that has waited longest, for the same number of instructions each -------------------

static uint32_t longest_waiting(VmLaunch *l) { return l->oldest; }

// The warp's next ready split after the one that ran last.
static uint32_t next_split(VmLaunch *l, const VmWarpRest *r) {
    (void)l;
    for (uint32_t k = 1; k <= r->n_splits; k++) {
        uint32_t s = (r->cur + k) % r->n_splits;
        if (r->splits[s].state == VM_SPLIT_READY)
            return s;
    }
    return 0;
}

static uint32_t same_quantum(VmLaunch *l, uint32_t mean) {
    (void)l;
    return mean;
}

const VmPolicy gr_vm_policy_rr = {.warp = longest_waiting, .split = next_split, .quantum = same_quantum};

// ---- Random: any warp that is ready, for a few instructions ----------------------------------------------------

static uint32_t any_warp(VmLaunch *l) { return l->ready[gr_rng_below(&l->rng, l->n_ready)]; }

static uint32_t short_quantum(VmLaunch *l, uint32_t mean) {
    uint32_t most = mean < RANDOM_QUANTUM ? 2 * mean : RANDOM_QUANTUM;
    return 1 + gr_rng_below(&l->rng, most);
}

const VmPolicy gr_vm_policy_random = {.warp = any_warp, .quantum = short_quantum, .eager = true};
