// SPDX-License-Identifier: Apache-2.0
// recording — the launches of the process for `--record-launches`: each different one goes to the results file once,
// with a counter beside it. So a program that is killed has left all that it launched. The command makes the user's
// file of it (cli/run/launches_file.h).
#ifndef GR_INJECT_RECORDING_H
#define GR_INJECT_RECORDING_H

#include "inject/session.h"

// Whether launches are recorded.
bool gr_recording_is_on(void);

// The rest need the session's lock.

// The launch as the file has it, without its count: JSON up to the last brace. It is made before the launch, as memory
// may be freed behind it. To be freed. NULL: the launch cannot be recorded. `l->params` NULL with params_known false is
// one whose arguments are not known.
char *gr_recording_line(const GrLaunch *l);
// Counts the launch of such a line, NULL as well.
void gr_recording_count(const char *line);
// Launches that nothing more is known of.
void gr_recording_left_out(uint64_t n);

#endif
