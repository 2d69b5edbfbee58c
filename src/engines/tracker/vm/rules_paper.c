// SPDX-License-Identifier: Apache-2.0
// rules_paper — the rules of the iGUARD paper for the CPU device: the end of device/paper.c, which is compiled with
// this behind it.
#include "engines/tracker/vm/lane.h"

#define GR_RULES gr_tracker_paper_rules
#include "engines/tracker/vm/rule_set.h"
