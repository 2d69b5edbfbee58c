// SPDX-License-Identifier: Apache-2.0
// hooks — what happens now and then before a memory access of the program: a switch to another split, or the
// parting of a converged warp. Both are drawn from the seed, about one access in VmConfig.split_one_in.
//
// Without the second, lanes of a warp that never branch would always move together, and a missing __syncwarp
// could not show.
#include "vm/exec_mem.h"
#include "vm/warp.h"

void gr_vm_draw_countdown(VmLaunch *l) {
    uint32_t n = l->device->config.split_one_in;
    if (n > INT32_MAX / 2)
        n = INT32_MAX / 2;
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

bool gr_vm_access_hook(VmWarp *w, const VmInsn *i) {
    VmWarpRest *r = rest_of(w);
    VmLaunch *l = r->launch;
    if (l->device->listens_access) { // then every access comes here and is counted here
        w->budget = 1;
        if (--l->access_countdown > 0)
            return false;
    }
    if (i->tagged)
        return false; // the next access of the program will do
    gr_vm_draw_countdown(l);
    if (!l->device->listens_access)
        w->budget = l->access_countdown;
    if (!l->device->config.split_one_in)
        return false;
    uint32_t mask = split_of(w)->mask;
    if ((mask & (mask - 1)) && gr_rng_below(&l->rng, 2) == 0) {
        gr_vm_diverge(w, random_part(l, mask), i, i, i->rejoin);
        return true;
    }
    stop_at(w, i, VM_STOP_YIELD);
    return true;
}

// Changes from one quantum to the next.
unsigned gr_vm_rotation(VmWarp *w) { return rest_of(w)->rotate; }
