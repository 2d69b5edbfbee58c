// SPDX-License-Identifier: Apache-2.0
// updates — a load and a store of the same bytes, as in `x[i] += y`: the call for the store tells of both.
//
// What races with the load races with the store. So only the store is recorded, if the thread surely makes both,
// synchronizes nowhere in between, and both stand in one source line, or the module names no lines. If the store finds
// a possible race, the runtime looks at the load by itself (GR_WHAT_BACK).
#ifndef GR_ENGINES_TRACKER_PASS_UPDATES_H
#define GR_ENGINES_TRACKER_PASS_UPDATES_H

#include "passes/emit.h"
#include "ptx/cfg.h"
#include "ptx/speculate.h"

typedef struct Updates {
    uint32_t *load_of; // by the site of a store: the site of the load that it tells of; 0: none
    bool *told;        // by site: a load that a store tells of
} Updates;

// Finds such pairs in `f`, before it is changed, and notes them in the arrays of *out, which have nothing of its sites
// yet. `still[site]`: loads that need no call. Stores and loads that `status` leaves alone are in no pair.
void gr_updates_find(const PtxFunc *f, const DefUse *uses, const Cfg *g, const GrSiteStatus *status,
                     const bool *still, Updates *out);

#endif
