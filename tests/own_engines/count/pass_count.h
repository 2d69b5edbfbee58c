// SPDX-License-Identifier: Apache-2.0
// pass_count — the smallest pass there is: every access site adds one, per lane, to a counter of its own.
//
// It proves that sites, tags, linking and the engine table are enough for an engine, and that what the observers report
// is what the instructions do: the counts of both must be equal, launch by launch.
#ifndef GR_TESTS_PASS_COUNT_H
#define GR_TESTS_PASS_COUNT_H

#include "ptx/ptx.h"

// Adds the variable `name` (n_sites + 1 counters of 64 bits, visible) and an atomic increment before each site.
gr_status gr_count_rewrite(PtxModule *m, const char *name, gr_error *err);

#endif
