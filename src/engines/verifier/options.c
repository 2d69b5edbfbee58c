// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/options.h"

static const GrOptRow rows[] = {
#define OPTION(...) GR_OPT_ROW(VerifierWords, __VA_ARGS__)
#include "engines/verifier/options.def"
#undef OPTION
};

static const GrOptRange ranges[] = {
#define RANGE(...) GR_OPT_RANGE(VerifierWords, __VA_ARGS__)
#include "engines/verifier/options.def"
#undef RANGE
};

const GrOptTable gr_verifier_options = {.engine = "verifier",
                                        .rows = rows,
                                        .ranges = ranges,
                                        .n_rows = sizeof rows / sizeof *rows,
                                        .n_ranges = sizeof ranges / sizeof *ranges,
                                        .size = sizeof(VerifierWords)};
