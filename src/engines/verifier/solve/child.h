// SPDX-License-Identifier: Apache-2.0
// child — work in a child process with hard limits: whatever happens to it, the caller goes on.
#ifndef GR_ENGINES_VERIFIER_SOLVE_CHILD_H
#define GR_ENGINES_VERIFIER_SOLVE_CHILD_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum GrChildEnd {
    GR_CHILD_DONE, // it came to its end
    GR_CHILD_TIME, // it was killed when its time was over
    GR_CHILD_DIED, // of a signal, of its memory limit, …
} GrChildEnd;

typedef struct GrChildResult {
    GrChildEnd end;
    char *data; // what it wrote to `out`, also when it was killed; the caller frees it
    size_t len;
} GrChildResult;

// Runs work(user, out) in a child, at most `seconds` long and with at most `bytes` of memory more than the caller has.
// What it writes to `out` is the result. Errors: fork, pipe, memory.
gr_status gr_child_run(void (*work)(void *user, int out), void *user, double seconds, size_t bytes,
                       GrChildResult *result, gr_error *err);

// Seconds of the clock that does not jump.
double gr_seconds_now(void);

// Writes all of it, or returns false.
bool gr_child_write(int out, const void *data, size_t len);

#endif
