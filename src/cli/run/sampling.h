// SPDX-License-Identifier: Apache-2.0
// sampling — what --sample and --coverage ask of the command that runs a program.
#ifndef GR_CLI_RUN_SAMPLING_H
#define GR_CLI_RUN_SAMPLING_H

#include "options/options.h"
#include "report/report.h"

// Before the program runs, because a mistake should not cost a run: whether --sample and --aim make sense, and the file
// of --coverage. The file gets its absolute path, because the program may change its folder.
gr_status gr_sampling_check(GrOptions *o, gr_error *err);

// What the run's schedule is to aim at (aim/aim.h): what the user says, or else what follows from the file of
// --coverage. Once the device and the engine are chosen.
gr_status gr_sampling_aim(GrOptions *o, gr_error *err);

// What --sample has to be for the same choice again: with --coverage the file has changed since. Appends a list of the
// accesses that were chosen, unless they are too many for a command line: false then.
bool gr_sampling_again(const GrReport *r, StrBuf *out);

#endif
