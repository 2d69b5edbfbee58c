// SPDX-License-Identifier: Apache-2.0
// rules_paper — the rules of the iGUARD paper (device/paper.c) for the CPU device.
#include "engines/tracker/vm/lane.h"

static void __gr_begin(void), __gr_order(uint32_t what, uint32_t lanes);
static void __gr_saw(uint32_t what, uint64_t at);
static void __gr_range(uint32_t site, uint32_t what, uint64_t at, uint32_t bytes);
static void __gr_access(uint32_t site, uint32_t what, uint64_t at, uint64_t value);

#include "engines/tracker/device/paper.c"

#define GR_RULES gr_tracker_paper_rules
#include "engines/tracker/vm/rule_set.h"
