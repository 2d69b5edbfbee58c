// SPDX-License-Identifier: Apache-2.0
#include "engines/exact/classes.h"

const GrClass gr_exact_classes[] = {
#define CLASS(id, number, text, meaning)                                                                     \
    {number, text, meaning, RACE_##id == RACE_SPECULATED ? GR_KIND_HOISTED : GR_KIND_RACE},
#include "engines/exact/classes.def"
#undef CLASS
    {.number = 0},
};
