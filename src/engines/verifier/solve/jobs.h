// SPDX-License-Identifier: Apache-2.0
// jobs — pieces of work in child processes, some side by side; their results come in the order of the pieces.
#ifndef GR_ENGINES_VERIFIER_SOLVE_JOBS_H
#define GR_ENGINES_VERIFIER_SOLVE_JOBS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct GrJobs {
    size_t n;      // pieces
    unsigned most; // children at a time, 1 or more
    void *user;
    void (*work)(void *user, size_t piece, int out); // in a child: what it writes to `out` is the result
    // In the caller, piece after piece. `died`: the child did not come to its end; data[0 .. len) is what it wrote.
    gr_status (*take)(void *user, size_t piece, const char *data, size_t len, bool died, gr_error *err);
    const char *progress; // "kernels of f.cu": how many are done is told on standard error; NULL: it is not
} GrJobs;

// Errors: fork, pipe, memory, and `take`'s; no child is left then. Children die with the caller, however it ends.
gr_status gr_jobs_run(const GrJobs *j, gr_error *err);

#endif
