// SPDX-License-Identifier: Apache-2.0
// options — the fields of options.def: gr_options_of(o, &gr_collider_options).
#ifndef GR_ENGINES_COLLIDER_OPTIONS_H
#define GR_ENGINES_COLLIDER_OPTIONS_H

#include "options/options.h"

typedef struct ColliderWords {
#define OPTION(id, name, type, deflt, commands, applies, arg, help) GrOpt_##type id;
#include "engines/collider/options.def"
#undef OPTION
} ColliderWords;

extern const GrOptTable gr_collider_options;

// Whether stores are poisoned, once the device is chosen.
bool gr_collider_poisons(const GrOptions *o);

#endif
