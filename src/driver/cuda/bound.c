// SPDX-License-Identifier: Apache-2.0
// bound — what the schedule promises of a run, in words for its report.
#include "device_api/hooks.h"
#include "driver/cuda/driver.h"

#include <inttypes.h>
#include <stdio.h>

static void say(const VmBound *b, int device, char *text, unsigned size) {
    char on[32] = "";
    if (gr_cu.n_devices > 1)
        snprintf(on, sizeof on, " on device %d", device);
    if (b->steps > b->limit)
        snprintf(text, size,
                 "schedule pct%s: no bound holds: %" PRIu64
                 " warp instructions were executed, more than --pct-steps %" PRIu64,
                 on, b->steps, b->limit);
    else if (b->spins)
        snprintf(text, size,
                 "schedule pct%s: no bound holds: warps that polled, or computed for long while others could "
                 "run, were "
                 "put last %" PRIu64 " times",
                 on, b->spins);
    else
        snprintf(
            text, size,
            "schedule pct%s: a race of depth %u between warps is found with a probability of at least %.3g, "
            "1 / (n k^%u): n = %" PRIu64 " warps, k = %" PRIu64 " (%" PRIu64
            " warp instructions were executed)",
            on, b->depth, b->probability, b->depth - 1, b->warps, b->limit, b->steps);
}

__attribute__((visibility("default"))) int gr_cpu_device_bound(int device, char *text, unsigned size) {
    bool mine = gr_cu_lock_is_mine(); // a handler of a fatal signal asks
    if (!mine)
        gr_cu_lock();
    VmBound b;
    bool has = device < gr_cu.n_devices && gr_vm_bound(gr_cu.devices[device].vm, &b) && b.warps;
    if (has)
        say(&b, device, text, size);
    if (!mine)
        gr_cu_unlock();
    return has ? 0 : -1;
}
