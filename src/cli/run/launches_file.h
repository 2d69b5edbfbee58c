// SPDX-License-Identifier: Apache-2.0
// launches_file — the file of `gpurace run --record-launches FILE`, for `gpurace check --launches FILE`
// (docs/verifier.md has the format).
#ifndef GR_CLI_RUN_LAUNCHES_FILE_H
#define GR_CLI_RUN_LAUNCHES_FILE_H

#include "base/status.h"

// Before the program runs, because a mistake should not cost a run: whether `path` can be written. What is there stays.
gr_status gr_launches_file_try(const char *path, gr_error *err);

// Writes the launches that processes of a run left in the results file `results`; equal ones of several processes once.
gr_status gr_launches_file_write(const char *results, const char *path, gr_error *err);

#endif
