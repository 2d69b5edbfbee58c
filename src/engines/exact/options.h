// SPDX-License-Identifier: Apache-2.0
// options — the fields of options.def: gr_options_of(o, &gr_exact_options).
#ifndef GR_ENGINES_EXACT_OPTIONS_H
#define GR_ENGINES_EXACT_OPTIONS_H

#include "options/options.h"

typedef struct ExactWords {
#define OPTION(id, name, type, deflt, commands, applies, arg, help) GrOpt_##type id;
#include "engines/exact/options.def"
#undef OPTION
} ExactWords;

extern const GrOptTable gr_exact_options;

#endif
