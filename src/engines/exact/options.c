// SPDX-License-Identifier: Apache-2.0
#include "engines/exact/options.h"

static const GrOptRow rows[] = {
#define OPTION(...) GR_OPT_ROW(ExactWords, __VA_ARGS__)
#include "engines/exact/options.def"
#undef OPTION
};

const GrOptTable gr_exact_options = {
    .engine = "exact", .rows = rows, .n_rows = sizeof rows / sizeof *rows, .size = sizeof(ExactWords)};
