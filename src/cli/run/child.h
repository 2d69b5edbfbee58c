// SPDX-License-Identifier: Apache-2.0
// child — one process at a time that works for this one and writes to a file.
#ifndef GR_CLI_RUN_CHILD_H
#define GR_CLI_RUN_CHILD_H

#include "base/status.h"

typedef struct GrChild {
    char *const *argv;        // argv[0]: a path, or a name that PATH has
    const char *folder, *log; // where it works; the file for its standard output and error, NULL: none
} GrChild;

// Runs it to its end. *status is as a shell has it: 128 + N for signal N. SIGINT, SIGTERM and SIGHUP are for the child
// meanwhile; that one came is GR_ERR_LIMIT.
gr_status gr_cli_run(const GrChild *c, int *status, gr_error *err);

#endif
