// SPDX-License-Identifier: Apache-2.0
// trial — builds and runs a program in a copy of the user's folder, under exact with several seeds, edited or not.
#ifndef GR_CLI_RUN_TRIAL_H
#define GR_CLI_RUN_TRIAL_H

#include "repair/propose.h"
#include "report/report.h"

#include <limits.h>

typedef struct GrTrial {
    // Set by the caller.
    const char *folder, *build;  // what is copied; the command for sh
    char **argv;                 // of the program
    uint64_t timeout_s;          // of one run
    const char *schedule, *with; // with: one more option of `gpurace run`, or ""
    // The trial's own.
    char top[PATH_MAX];         // of all that is temporary; "" when there is none
    char folder_path[PATH_MAX]; // the real path of `folder`
    char copy[PATH_MAX], cwd[PATH_MAX], self[PATH_MAX], program[PATH_MAX];
    char **run; // the command of a run
    size_t n_run;
    Arena arena;
} GrTrial;

// What the seeds showed.
typedef struct GrTrialResult {
    GrReport found; // the races of all runs
    uint64_t seeds; // 1 to this were run
    uint64_t faults, reasons;
    bool stale;    // the build left the program as it was
    char why[400]; // it could not be built, or a run did not end as it should; "": neither
} GrTrialResult;

// Copies the folder. GR_ERR_ARGUMENT: the working folder is not in it.
gr_status gr_trial_open(GrTrial *t, gr_error *err);
// Removes the copy.
void gr_trial_close(GrTrial *t);

// Builds and runs, with the seeds 1 to `seeds`, with the edits of the `n` proposals, which are of as many files in the
// copy; 0: as it is. The files are as before afterwards. What only says something of the program is no error: out->why.
// gr_trial_result_free is due in any case.
gr_status gr_trial_run(GrTrial *t, const GrProposal *p, size_t n, uint64_t seeds, GrTrialResult *out,
                       gr_error *err);
// Runs what was built last as it is, with the seeds behind those of *out up to `seeds`.
gr_status gr_trial_more(GrTrial *t, uint64_t seeds, GrTrialResult *out, gr_error *err);
void gr_trial_result_free(GrTrialResult *r);

// Whether the edits with which `after` was made remove the race (or misuse), which `before` has, and do no harm: no
// other race or misuse came, and the program could be built and ran to its end. Says what is wrong in `why` otherwise.
bool gr_trial_removes(const GrTrialResult *before, const GrTrialResult *after, const GrRace *race,
                      char why[400]);

#endif
