// SPDX-License-Identifier: Apache-2.0
// plan — which runs a campaign has: every seed with every input, engine and schedule.
//
// Runs are numbered from 1: schedules change fastest, then engines, then inputs, and seeds slowest. So the first runs
// already see every input under every engine. The number of a run is a matter of the plan; what a run is, for good, is
// its seed, input, engine and schedule.
#ifndef GR_CAMPAIGN_PLAN_H
#define GR_CAMPAIGN_PLAN_H

#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"
#include "base/vec.h"

#include <stdint.h>

// The most runs of a campaign: the state of each is kept in memory.
#define GR_CAMPAIGN_MOST_RUNS 1000000u

typedef struct GrSeedRange {
    uint64_t first, last;
} GrSeedRange;

// A line of --inputs: arguments that follow those of the command line.
typedef struct GrCampaignInput {
    const char *text; // the line, without blanks at its ends
    char **words;     // ends with NULL
    size_t n;
} GrCampaignInput;

typedef VEC(const char *) GrCampaignWords;

typedef struct GrCampaignPlan {
    Arena arena;
    VEC(GrSeedRange) seeds; // ascending, none twice
    GrCampaignWords engines, schedules;
    VEC(GrCampaignInput) inputs; // at least one: the empty line
    Map by_text;                 // of inputs: 1 + the index
    uint64_t n_seeds, n;         // n: runs; gr_plan_close counts
} GrCampaignPlan;

typedef struct GrCampaignRun {
    uint64_t number, seed;
    const char *engine, *schedule;
    const GrCampaignInput *input;
} GrCampaignRun;

void gr_plan_init(GrCampaignPlan *p);
void gr_plan_free(GrCampaignPlan *p);

// Each reads one of the lists; GR_ERR_ARGUMENT or GR_ERR_SYNTAX: what is wrong with it, and where. gr_plan_seeds:
// `1..100,200`. gr_plan_engines, gr_plan_schedules: `word,word`, none empty, none twice. gr_plan_inputs: lines of
// arguments, with quotes and backslashes as in a shell; blank lines and lines that begin with # are skipped.
gr_status gr_plan_seeds(GrCampaignPlan *p, const char *text, gr_error *err);
gr_status gr_plan_engines(GrCampaignPlan *p, const char *text, gr_error *err);
gr_status gr_plan_schedules(GrCampaignPlan *p, const char *text, gr_error *err);
gr_status gr_plan_inputs(GrCampaignPlan *p, const char *path, const char *text, size_t len, gr_error *err);

// When all lists are there. Without inputs there is one: no further arguments.
gr_status gr_plan_close(GrCampaignPlan *p, gr_error *err);

// The run with a number from 1 to p->n. gr_plan_number: the number of a known run, 0: it is none of this plan.
GrCampaignRun gr_plan_run(const GrCampaignPlan *p, uint64_t number);
uint64_t gr_plan_number(const GrCampaignPlan *p, uint64_t seed, const char *engine, const char *schedule,
                        const char *input);

#endif
