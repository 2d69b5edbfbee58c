// SPDX-License-Identifier: Apache-2.0
// rules_ptx — the rules of PTX for the CPU device: the end of device/tracker.c, which is compiled with this behind it.
#include "engines/tracker/vm/lane.h"
#include "engines/tracker/vm/warp.h"

#define GR_HAS_OWN

#define GR_RULES gr_tracker_ptx_rules
#include "engines/tracker/vm/rule_set.h"
