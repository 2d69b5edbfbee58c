// SPDX-License-Identifier: Apache-2.0
// tracker_pass — inserts a call of the tracker's device runtime before every access to global and shared memory, and
// before every instruction that orders (device/record.h says what is called). No inserted code orders the program's
// accesses.
#ifndef GR_ENGINES_TRACKER_PASS_TRACKER_PASS_H
#define GR_ENGINES_TRACKER_PASS_TRACKER_PASS_H

#include "ptx/ptx.h"
#include "ptx/site_status.h"

typedef struct TrackerOptions {
    const char *suffix; // of the runtime's names; "" for a file on its own
    const char *runtime,
        *cluster_runtime; // PTX of the rule set's device runtime; the second for sm_90 and later
    void (*mark)(void *user, const PtxModule *m, bool *marked);          // functions; NULL: all
    bool (*wanted)(void *user, const PtxModule *m, const PtxSite *site); // NULL: all
    // Leaves out some of the sites that would be checked (passes/sample.h); NULL: all stay.
    gr_status (*choose)(void *user, const PtxModule *m, GrSiteStatus *status, gr_error *err);
    void *user;
    bool all; // every access is told, even one that races with nothing
    // A call before the access tells what it releases, as in machine code; else behind it.
    bool release_first;
} TrackerOptions;

// Rewrites `m` in place and says of each site what became of it: `status` has m->n_sites + 1 elements. Unwanted and
// unchosen accesses are left alone, but not instructions that order, nor what a strong read sees. GR_ERR_UNSUPPORTED:
// the module cannot be raised to sm_70.
gr_status gr_tracker_rewrite(PtxModule *m, const TrackerOptions *o, GrSiteStatus *status, gr_error *err);

// The name of the module's GrTrackerControl.
const char *gr_tracker_control_name(const char *suffix, char *buf, size_t size);

#endif
