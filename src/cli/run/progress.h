// SPDX-License-Identifier: Apache-2.0
// progress — one line on the terminal while a long run goes on: how long, how many launches, how many races so far.
//
// It is shown when standard error is a terminal, from some seconds on, is updated in its place, and is gone before
// anything else is written. The numbers are the results file's, which the program's processes count.
#ifndef GR_CLI_RUN_PROGRESS_H
#define GR_CLI_RUN_PROGRESS_H

#include "findings/results.h"

// Milliseconds by which the line comes later or earlier than usual, for tests.
#define GR_PROGRESS_ENV "GPURACE_PROGRESS_AFTER"

typedef struct GrProgress {
    GrResults results;  // header NULL: nothing is ever shown
    int64_t began, due; // milliseconds: of the run; the next update
    bool shown;
} GrProgress;

// `now` is in milliseconds, of any clock that all three are told.
void gr_progress_begin(GrProgress *p, const char *results, int64_t now);
// Updates the line when it is due. Milliseconds until it is again; -1: never.
int64_t gr_progress_tick(GrProgress *p, int64_t now);
// Erases it.
void gr_progress_end(GrProgress *p);

// The line for others: whether a terminal shows it; show a new text in its place, cut to the terminal's width; wipe it.
bool gr_progress_wanted(void);
void gr_progress_show(const char *text);
void gr_progress_wipe(void);

#endif
