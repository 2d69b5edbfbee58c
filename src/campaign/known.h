// SPDX-License-Identifier: Apache-2.0
// known — what a campaign knows so far: what became of each run of its plan, and which races were seen when.
//
// Everything goes by the numbers of runs, never by when a run ended. So a campaign's findings do not depend on how many
// runs went at a time, on the machine, or on interruptions.
#ifndef GR_CAMPAIGN_KNOWN_H
#define GR_CAMPAIGN_KNOWN_H

#include "base/map.h"
#include "campaign/plan.h"
#include "campaign/store.h"

typedef enum GrRunState { GR_RUN_OPEN, GR_RUN_UNDER_WAY, GR_RUN_DONE, GR_RUN_FAILED } GrRunState;

typedef struct GrSighting {
    uint32_t race; // an index
    uint64_t count;
} GrSighting;

typedef struct GrKnownRun {
    GrRunState state;
    bool clean, races; // of the verdict; neither: inconclusive, or failed
    bool is_void;      // GrReport.is_void
    int status;
    VEC(GrSighting) seen;
    VEC(const char *) reasons;
} GrKnownRun;

// A race, over all runs.
typedef struct GrKnownRace {
    const char *id, *title;
    uint64_t first; // the first run that saw it
    uint64_t runs, count;
} GrKnownRace;

typedef struct GrKnown {
    Arena arena;
    const GrCampaignPlan *plan;
    GrKnownRun *runs;       // [plan->n + 1], by number
    VEC(GrKnownRace) races; // in no order; gr_known_sort puts those first that were seen first
    Map by_id;              // 1 + the index
    Map numbers;            // of the runs in the store, while it is read
    uint64_t done, failed;  // runs
    uint64_t settled;       // all runs up to this one are done or failed
    uint64_t last_new;      // of these, the last that saw a race which none before it saw; 0: none did
    VEC(bool) seen_before;  // by race: some settled run saw it
} GrKnown;

// `plan` must outlive it.
gr_status gr_known_init(GrKnown *k, const GrCampaignPlan *plan, gr_error *err);
void gr_known_free(GrKnown *k);
// Adds what a store says about runs of the plan that are not done yet. If `again`, failed runs become open again.
gr_status gr_known_load(GrKnown *k, GrStore *s, bool again, gr_error *err);
// A run that ended. Races that were not known are the last of `races` then.
gr_status gr_known_add(GrKnown *k, uint64_t number, const GrCampaignOutcome *o, gr_error *err);
// Moves on `settled` and `last_new`.
void gr_known_settle(GrKnown *k);

// Sorts races by their first runs, then by ids. Indices of sightings are stale then: only `races` may be read after it.
void gr_known_sort(GrKnown *k);

#endif
