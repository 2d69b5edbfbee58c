// SPDX-License-Identifier: Apache-2.0
// input — the program's standard input, for reading it a second time.
#ifndef GR_CLI_RUN_INPUT_H
#define GR_CLI_RUN_INPUT_H

#include <sys/types.h>

typedef struct GrInput {
    const char *what; // "a pipe": it cannot be read again. NULL: it can
    off_t at;         // where the first run began to read; -1: there is nothing to read
} GrInput;

// Before the program runs.
void gr_input_remember(GrInput *i);

// A descriptor that reads the same again, or nothing.
int gr_input_again(const GrInput *i);

#endif
