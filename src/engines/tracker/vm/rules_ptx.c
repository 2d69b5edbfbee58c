// SPDX-License-Identifier: Apache-2.0
// rules_ptx — the rules of PTX (device/tracker.c) for the CPU device.
#include "engines/tracker/vm/lane.h"

#include "engines/tracker/device/tracker.c"

#define GR_RULES gr_tracker_ptx_rules
#include "engines/tracker/vm/rule_set.h"
