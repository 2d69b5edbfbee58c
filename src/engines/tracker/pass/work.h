// SPDX-License-Identifier: Apache-2.0
// work — what the parts of the tracker's pass share. Internal to pass/.
#ifndef GR_ENGINES_TRACKER_PASS_WORK_H
#define GR_ENGINES_TRACKER_PASS_WORK_H

#include "engines/tracker/pass/tracker_pass.h"
#include "passes/emit.h"

typedef struct TrackerWork {
    PtxModule *module;
    const TrackerOptions *o;
    bool *marked;
    uint32_t *stamps; // gr_ptx_each_reachable, of functions in turn
    GrSiteStatus *status;
    gr_error *err;
    bool classifies;        // only says what each site is, and inserts nothing
    const PtxReg *own;      // of the function (device/quick.h); NULL: the rule set has none
    const PtxReg *where[2]; // of the function, for .global and .shared; NULL: it needs none
    bool kept;              // the state of its threads is in memory (record.h, __gr_begin)
} TrackerWork;

// The bits of `what` for a space (device/record.h).
uint32_t gr_tracker_space(PtxSpace s);
uint32_t gr_tracker_what(const PtxSite *site, PtxAccess access, PtxSpace space, unsigned size);

// Inserts a call of __gr_access before `at`, under the access's guard.
gr_status gr_tracker_put_call(const TrackerWork *w, const Access *a, PtxStmt *at, uint32_t what,
                              const PtxReg *address, const char *value);

// The last argument of a call, with the comma before it; "": the rule set has none.
const char *gr_tracker_own(const TrackerWork *w, char *buf, size_t size);

// Puts in calls for sites other than ld, st, atom and red. *status says what became of one.
gr_status gr_tracker_put_other(const TrackerWork *w, const Access *a, GrSiteStatus *status);

#endif
