// SPDX-License-Identifier: Apache-2.0
// hoisted — loads that the compiler hoisted out of their guard, if other code decides whether a thread uses the value
// (ptx/speculate.h). Inserted code tells such a load where its thread decides to use it. Nothing that orders may come
// in between (gr_crosses_order): the counters of then would be gone, and the source would load there, too.
#ifndef GR_ENGINES_TRACKER_PASS_HOISTED_H
#define GR_ENGINES_TRACKER_PASS_HOISTED_H

#include "engines/tracker/pass/work.h"

typedef struct Hoisted {
    PtxReg **loaded; // of each such load: its thread has loaded and not decided yet
    uint32_t n;
} Hoisted;

// Inserts the calls for the load *a, whose guard gr_access_prepare tells. `used`: which of its bytes count.
gr_status gr_hoisted_put(const TrackerWork *w, const Access *a, const Decisions *d, uint32_t what,
                         const PtxReg *address, const char *used, Hoisted *all);

// Called last: notes where the function begins that nothing is loaded.
gr_status gr_hoisted_begin(const TrackerWork *w, PtxFunc *f, const Hoisted *all);

#endif
