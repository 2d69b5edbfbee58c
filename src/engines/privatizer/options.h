// SPDX-License-Identifier: Apache-2.0
// options — the fields of options.def: gr_options_of(o, &gr_privatizer_options).
#ifndef GR_ENGINES_PRIVATIZER_OPTIONS_H
#define GR_ENGINES_PRIVATIZER_OPTIONS_H

#include "options/options.h"

typedef struct PrivatizerWords {
#define OPTION(id, name, type, deflt, commands, applies, arg, help) GrOpt_##type id;
#include "engines/privatizer/options.def"
#undef OPTION
} PrivatizerWords;

extern const GrOptTable gr_privatizer_options;

#endif
