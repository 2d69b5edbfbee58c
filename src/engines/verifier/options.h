// SPDX-License-Identifier: Apache-2.0
// options — the fields of options.def: gr_options_of(o, &gr_verifier_options).
#ifndef GR_ENGINES_VERIFIER_OPTIONS_H
#define GR_ENGINES_VERIFIER_OPTIONS_H

#include "options/options.h"

typedef struct VerifierWords {
#define OPTION(id, name, type, deflt, commands, applies, arg, help) GrOpt_##type id;
#include "engines/verifier/options.def"
#undef OPTION
} VerifierWords;

extern const GrOptTable gr_verifier_options;

#endif
