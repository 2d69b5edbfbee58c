// SPDX-License-Identifier: Apache-2.0
// rules_paper — the rules of the iGUARD paper (device/paper.c) for the CPU device.
#include "engines/tracker/vm/lane.h"

#include "engines/tracker/device/paper.c"

#define GR_RULES gr_tracker_paper_rules
#include "engines/tracker/vm/rule_set.h"
