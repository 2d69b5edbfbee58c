// SPDX-License-Identifier: Apache-2.0
// policy — schedules other than the default one (VmConfig.schedule): a table of functions each, where sched.c decides
// something. Internal to the VM.
//
// A function that is NULL: as by default. Ids are those of warps in their launch. Chosen warps and splits are ready.
#ifndef GR_VM_CORE_POLICY_H
#define GR_VM_CORE_POLICY_H

#include "vm/core/device.h"
#include "vm/core/warp.h"

typedef struct VmPolicy {
    VmLaunch *(*launch)(VmDevice *d); // whose turn it is; NULL: none can move
    uint32_t (*warp)(VmLaunch *l);
    uint32_t (*split)(VmLaunch *l, const VmWarpRest *r);
    uint32_t (*quantum)(VmLaunch *l, uint32_t mean);
    void (*started)(VmWarpRest *r); // a warp of a block that begins
    // The warp ran n warp instructions. `yields`: it said that it polls in vain.
    void (*ran)(VmLaunch *l, VmWarpRest *r, uint64_t n, bool yields);
    // Split `s` should stay away for a while: at a pause behind an access (gr_vm_hold), or before one (hooks.c). `site`
    // is the access. True when it will, until something else than time brings it back.
    bool (*hold)(VmWarpRest *r, uint32_t s, uint32_t site, bool pause);
    void (*begins)(VmWarpRest *r); // it is ready, and may be held at once
    // All ready and sleeping splits of the warp are held, others wait to rejoin them: whether the others go on alone.
    bool (*leave_behind)(VmLaunch *l);
    void (*jumped)(VmDevice *d, uint64_t ns); // all slept, and the clock jumped
    bool eager;                               // blocks start as soon as there is room
    // A ready warp runs at once if the policy says so (gr_vm_pct_preempts); accesses part warps, but never yield.
    bool strict;
} VmPolicy;

extern const VmPolicy gr_vm_policy_rr, gr_vm_policy_random, gr_vm_policy_pct, gr_vm_policy_directed;

// The policy of a schedule; NULL: the default one.
const VmPolicy *gr_vm_policy(VmSchedule s);

// ---- policy_pct.c ----------------------------------------------------------------------------------------

typedef struct VmPct VmPct;
VmPct *gr_vm_pct_new(const VmConfig *c); // NULL: out of memory
void gr_vm_pct_free(VmPct *p);
void gr_vm_pct_preempts(VmLaunch *l, const VmWarpRest *woken); // it became ready

// ---- hold.c ----------------------------------------------------------------------------------------------

// Whether all held threads wait for all others.
bool gr_vm_all_stay(const VmDevice *d);

#endif
