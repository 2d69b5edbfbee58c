// SPDX-License-Identifier: Apache-2.0
// store — the results of a campaign, in a file of SQLite.
//
// Each run is added in one transaction. So whatever ends the campaign, also kill -9, costs at most the runs that were
// under way. The tables are for users, too: `sqlite3 FOLDER/campaign.sqlite 'select * from run where verdict =
// "races"'`.
//
//     about(key, value)                                            whose campaign this is (gr_store_about)
//     run(id, seed, input, engine, schedule, verdict, status, void, seconds, report)   void: as the report says;
//                                                                                      report: JSON, NULL when there is
//                                                                                      none
//     reason(run, nth, text)                                       what stands against `clean`
//     race(id, title), seen(run, race, count)                      which run saw which race how often
#ifndef GR_CAMPAIGN_STORE_H
#define GR_CAMPAIGN_STORE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"
#include "campaign/plan.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct GrCampaignRace {
    const char *id, *title; // stable over runs (report); one line for people
    uint64_t count;         // accesses that raced in this run
} GrCampaignRace;

// The verdict of a run that left no report.
#define GR_CAMPAIGN_FAILED "failed"

// What became of a run.
typedef struct GrCampaignOutcome {
    const char *verdict; // of its report, or GR_CAMPAIGN_FAILED
    int status;          // of `gpurace run --strict no`, as a shell has it
    bool is_void;        // GrReport.is_void
    double seconds;
    const char *report; // JSON; NULL: there is none
    VEC(const char *) reasons;
    VEC(GrCampaignRace) races;
} GrCampaignOutcome;

typedef struct GrStore GrStore;

// Opens the file, and makes it if it is not there. Several processes may have it open; one adds runs.
gr_status gr_store_open(const char *path, GrStore **out, gr_error *err);
void gr_store_close(GrStore *s);

// Notes `value` under `key` if nothing is there. *before is what was there, in `arena`; NULL: nothing was.
gr_status gr_store_about(GrStore *s, const char *key, const char *value, Arena *arena, const char **before,
                         gr_error *err);

// Adds a run, in the place of one that failed.
gr_status gr_store_add(GrStore *s, const GrCampaignRun *run, const GrCampaignOutcome *o, gr_error *err);

// Adds what is in another such file and not here. The same file may be added any number of times. *added: so many runs.
gr_status gr_store_merge(GrStore *s, const char *path, uint64_t *added, gr_error *err);

// A run as it is kept.
typedef struct GrStoredRun {
    int64_t id;
    uint64_t seed;
    const char *input, *engine, *schedule;
    const char *verdict; // GR_CAMPAIGN_FAILED, too, where the report is gone
    int status;
    bool is_void;
} GrStoredRun;

// Calls `tell` for all runs, all races that runs saw, and all reasons of runs, by the numbers of runs. A failure of
// `tell` ends that. Texts are valid during the call.
gr_status gr_store_runs(GrStore *s, gr_status (*tell)(void *user, const GrStoredRun *run, gr_error *err),
                        void *user, gr_error *err);
gr_status gr_store_races(GrStore *s,
                         gr_status (*tell)(void *user, int64_t run, const GrCampaignRace *race,
                                           gr_error *err),
                         void *user, gr_error *err);
gr_status gr_store_reasons(GrStore *s,
                           gr_status (*tell)(void *user, int64_t run, const char *text, gr_error *err),
                           void *user, gr_error *err);

// The report of a run, which the caller frees; NULL: it has none.
gr_status gr_store_report(GrStore *s, const GrCampaignRun *run, char **out, gr_error *err);

#endif
