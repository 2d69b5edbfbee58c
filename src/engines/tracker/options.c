// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/options.h"

static const GrOptRow rows[] = {
#define OPTION(...) GR_OPT_ROW(TrackerWords, __VA_ARGS__)
#include "engines/tracker/options.def"
#undef OPTION
};
const GrOptTable gr_tracker_options = {
    .engine = "tracker", .rows = rows, .n_rows = sizeof rows / sizeof *rows, .size = sizeof(TrackerWords)};
