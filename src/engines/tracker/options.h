// SPDX-License-Identifier: Apache-2.0
// options — the fields of options.def: gr_options_of(o, &gr_tracker_options).
#ifndef GR_ENGINES_TRACKER_OPTIONS_H
#define GR_ENGINES_TRACKER_OPTIONS_H

#include "options/options.h"

typedef struct TrackerWords {
#define OPTION(id, name, type, deflt, commands, applies, arg, help) GrOpt_##type id;
#include "engines/tracker/options.def"
#undef OPTION
} TrackerWords;

extern const GrOptTable gr_tracker_options;

#endif
