// SPDX-License-Identifier: Apache-2.0
// rules_paper — the rules of the iGUARD paper (device/paper.c) for the CPU device.
#include "engines/tracker/vm/lane.h"

#define __gr_begin  paper_begin
#define __gr_access paper_access
#define __gr_saw    paper_saw
#define __gr_range  paper_range
#define __gr_order  paper_order
static void paper_begin(void);
static void paper_access(uint32_t site, uint32_t what, uint64_t at, uint64_t value);
static void paper_saw(uint32_t what, uint64_t at);
static void paper_range(uint32_t site, uint32_t what, uint64_t at, uint32_t bytes);
static void paper_order(uint32_t what, uint32_t lanes);
#include "engines/tracker/device/paper.c"

#define GR_RULES gr_tracker_paper_rules
#include "engines/tracker/vm/rule_set.h"
