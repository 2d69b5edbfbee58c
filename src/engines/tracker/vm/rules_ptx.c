// SPDX-License-Identifier: Apache-2.0
// rules_ptx — the rules of PTX (device/tracker.c) for the CPU device.
#include "engines/tracker/vm/lane.h"

#define __gr_begin  ptx_begin
#define __gr_access ptx_access
#define __gr_saw    ptx_saw
#define __gr_range  ptx_range
#define __gr_order  ptx_order
static void ptx_begin(void);
static void ptx_access(uint32_t site, uint32_t what, uint64_t at, uint64_t value);
static void ptx_saw(uint32_t what, uint64_t at);
static void ptx_range(uint32_t site, uint32_t what, uint64_t at, uint32_t bytes);
static void ptx_order(uint32_t what, uint32_t lanes);
#include "engines/tracker/device/tracker.c"

#define GR_RULES gr_tracker_ptx_rules
#include "engines/tracker/vm/rule_set.h"
