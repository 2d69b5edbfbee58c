// SPDX-License-Identifier: Apache-2.0
// rules_ptx — the rules of PTX (device/tracker.c) for the CPU device.
#include "engines/tracker/vm/lane.h"

static uint64_t __gr_begin(uint32_t kept), __gr_own(void),
    __gr_order(uint32_t what, uint32_t lanes, uint64_t own);
static void __gr_saw(uint32_t what, uint64_t at, uint64_t own);
static void __gr_range(uint32_t site, uint32_t what, uint64_t at, uint32_t bytes, uint64_t own);
static void __gr_access(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own);
#define QUICK(name, shared, writes, strong)                                                                  \
    static void __gr_##name(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own,         \
                            uint64_t where);
GR_QUICK(QUICK)
#undef QUICK
static uint64_t __gr_extent(uint64_t base);
static void __gr_stray(uint64_t at);

#include "engines/tracker/device/tracker.c"
#include "engines/tracker/vm/warp.h"

#define GR_HAS_OWN

#define GR_RULES gr_tracker_ptx_rules
#include "engines/tracker/vm/rule_set.h"
