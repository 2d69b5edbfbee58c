// SPDX-License-Identifier: Apache-2.0
// recording — the launches of the process for `--record-launches`: each different one goes to the results file once,
// with a counter beside it. So a killed program has left all that it launched. The command makes the user's file of it
// (cli/run/launches_file.h).
#ifndef GR_INJECT_RECORDING_H
#define GR_INJECT_RECORDING_H

#include "inject/session.h"

// Whether launches are recorded.
bool gr_recording_is_on(void);

// The rest need the session's lock.

// The launch as the file has it, without its count: JSON up to the last brace. Made before the launch, as memory may be
// freed behind it. The caller frees it. NULL: the launch cannot be recorded. `l->params` NULL with params_known false:
// its arguments are not known.
char *gr_recording_line(const GrLaunch *l);
// Counts the launch of such a line, or of NULL.
void gr_recording_count(const char *line);
// Counts launches of which nothing more is known.
void gr_recording_left_out(uint64_t n);

#endif
