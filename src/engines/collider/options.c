// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/options.h"

#include <string.h>

static const GrOptRow rows[] = {
#define OPTION(...) GR_OPT_ROW(ColliderWords, __VA_ARGS__)
#include "engines/collider/options.def"
#undef OPTION
};
static const GrOptRange ranges[] = {
#define RANGE(...) GR_OPT_RANGE(ColliderWords, __VA_ARGS__)
#include "engines/collider/options.def"
#undef RANGE
};

const GrOptTable gr_collider_options = {.engine = "collider",
                                        .rows = rows,
                                        .n_rows = sizeof rows / sizeof *rows,
                                        .ranges = ranges,
                                        .n_ranges = sizeof ranges / sizeof *ranges,
                                        .size = sizeof(ColliderWords)};

bool gr_collider_poisons(const GrOptions *o) {
    const ColliderWords *words = gr_options_of(o, &gr_collider_options);
    return words->poison_writes || !strcmp(words->poison, "yes") ||
           (!strcmp(words->poison, "auto") && !strcmp(o->device, "gpu"));
}
