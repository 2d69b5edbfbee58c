// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/options.h"

static const GrOptRow rows[] = {
#define OPTION(...) GR_OPT_ROW(PrivatizerWords, __VA_ARGS__)
#include "engines/privatizer/options.def"
#undef OPTION
};
static const GrOptRange ranges[] = {
#define RANGE(...) GR_OPT_RANGE(PrivatizerWords, __VA_ARGS__)
#include "engines/privatizer/options.def"
#undef RANGE
};
const GrOptTable gr_privatizer_options = {.engine = "privatizer",
                                          .rows = rows,
                                          .n_rows = sizeof rows / sizeof *rows,
                                          .ranges = ranges,
                                          .n_ranges = sizeof ranges / sizeof *ranges,
                                          .size = sizeof(PrivatizerWords)};
