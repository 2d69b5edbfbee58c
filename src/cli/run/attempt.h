// SPDX-License-Identifier: Apache-2.0
// attempt — work that may end in a crash, in a child of its own, so that its caller lives on and can do with less.
#ifndef GR_CLI_RUN_ATTEMPT_H
#define GR_CLI_RUN_ATTEMPT_H

#include <stdbool.h>

typedef struct GrAttempt {
    bool done;     // `work` said that it was
    int status;    // what it left in *status, 0 to 255
    char how[128]; // else how it ended: "killed by signal 11 (Segmentation fault)"
} GrAttempt;

// Calls work(user, &status) in a copy of this process: its changes to memory are lost, its writes to standard output
// and error stay. Where no process can be made it is called here.
GrAttempt gr_cli_attempt(bool (*work)(void *user, int *status), void *user);

#endif
