// SPDX-License-Identifier: Apache-2.0
// inside_run — what the launcher told this process: variables of the environment, and the results file.
//
// The process takes both when it starts, and a child of fork has them from its parent. So a program may clear its
// environment, give up its rights or change its root afterwards, and is watched all the same.
#ifndef GR_INJECT_INSIDE_RUN_H
#define GR_INJECT_INSIDE_RUN_H

#include "findings/results.h"

#include <stdbool.h>

// Takes what is there. Any constructor may call it; only the first call acts.
void gr_run_begin(void);

// The value that a variable of gpurace's had when the process started; NULL: it had none.
const char *gr_run_variable(const char *name);

// The results file of the run, without a process number; header NULL: it cannot be reached, or this is no run.
const GrResults *gr_run_results(void);
// Why it cannot.
const char *gr_run_failure(void);

enum { GR_RUN_RESULTS = 0, GR_RUN_PRELOAD = 2, GR_RUN_VARIABLES = 11 };
// Variable `k` as "NAME=value", or NULL.
const char *gr_run_entry(unsigned k);

#endif
