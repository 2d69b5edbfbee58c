// SPDX-License-Identifier: Apache-2.0
// work — does the open runs of a campaign: children, `gpurace run`, do some at a time, and the store notes them.
#ifndef GR_CAMPAIGN_WORK_H
#define GR_CAMPAIGN_WORK_H

#include "base/str.h"
#include "campaign/known.h"
#include "campaign/plan.h"
#include "campaign/store.h"

typedef struct GrCampaignWork {
    const GrCampaignPlan *plan;
    GrKnown *known;
    GrStore *store;
    const char *self;                    // the path of gpurace
    const char *folder;                  // for what runs write
    const char *scope;                   // whose that is (folder.h)
    const char *options;                 // of `gpurace run`, as GPURACE_OPTIONS has them
    const char *coverage;                // the file that runs share, "": none
    bool (*samples)(const char *engine); // whether --coverage is for this engine
    char *const *program;                // with its arguments, ends with NULL
    uint64_t jobs, memory;               // children at a time; bytes for each, 0: no limit
    uint64_t seconds;                    // for each child; 0: no limit
    uint64_t stop_after;                 // end when so many runs saw nothing new; 0: never
    uint64_t share, shares;              // do each run whose number is `share` modulo `shares`; 0, 1: all

    // What came: a race that was not known, and that a run began or ended. `under_way` children are at work.
    void (*found)(void *user, const GrKnownRace *race, const GrCampaignRun *run);
    void (*progress)(void *user, uint64_t under_way);
    void *user;

    int signal;   // out: the signal that ended the work; 0: none did
    bool stopped; // out: by stop_after
} GrCampaignWork;

// A first run that is no good (bad options, no such program) ends the work: GR_ERR_ARGUMENT, its log as the error's
// file.
gr_status gr_campaign_work(GrCampaignWork *w, gr_error *err);

#endif
