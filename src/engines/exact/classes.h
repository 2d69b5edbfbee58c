// SPDX-License-Identifier: Apache-2.0
// classes — the classes of races both of whose sides are known (classes.def). Causality finds them; watchpoints do,
// too.
#ifndef GR_ENGINES_EXACT_CLASSES_H
#define GR_ENGINES_EXACT_CLASSES_H

#include "findings/classes.h"

typedef enum RaceClass {
#define CLASS(id, number, text, meaning) RACE_##id,
#include "engines/exact/classes.def"
#undef CLASS
    RACE_CLASS_COUNT
} RaceClass;

// By RaceClass.
extern const GrClass gr_exact_classes[];

#endif
