// SPDX-License-Identifier: Apache-2.0
// rules — the device runtimes of the tracker, compiled for the host: what the extension calls for each lane.
#ifndef GR_ENGINES_TRACKER_VM_RULES_H
#define GR_ENGINES_TRACKER_VM_RULES_H

#include "engines/tracker/device/record.h"
#include "vm/core/block.h"
#include "vm/core/launch.h"

// The lane that executes inserted code. Addresses of device memory from `base` on are `delta` away on the host.
typedef struct RuleLane {
    const VmLaunch *launch;
    const VmBlock *block;
    const GrTrackerControl *control;
    uint64_t base, size;
    int64_t delta;
    uint32_t warp, lane, mask;
    bool trap; // set: --stop, and a race was found
} RuleLane;

// A call of the common path (GR_QUICK) by several lanes; the arrays are by lane.
typedef struct RuleCall {
    uint32_t site, what, lanes;
    const uint64_t *at, *value, *own;
} RuleCall;

// The functions of one rule set, as in record.h. Those without a result return whether the launch is to end.
typedef struct RuleSet {
    uint64_t (*begin)(const RuleLane *l, uint32_t kept);
    uint64_t (*own)(const RuleLane *l);
    uint64_t (*order)(const RuleLane *l, uint32_t what, uint32_t lanes, uint64_t own);
    bool (*access)(const RuleLane *l, uint32_t site, uint32_t what, uint64_t at, uint64_t value,
                   uint64_t own);
    // Calls access() for each lane of `c`, in their order. Sets l->lane to the last one that accessed. NULL: there is
    // no common path.
    bool (*quick)(RuleLane *l, const RuleCall *c);
    bool (*saw)(const RuleLane *l, uint32_t what, uint64_t at, uint64_t own);
    bool (*range)(const RuleLane *l, uint32_t site, uint32_t what, uint64_t at, uint32_t bytes, uint64_t own);
    uint64_t (*extent)(const RuleLane *l, uint64_t base);
    bool (*stray)(const RuleLane *l, uint64_t at);
} RuleSet;

extern const RuleSet gr_tracker_ptx_rules, gr_tracker_paper_rules;

#endif
