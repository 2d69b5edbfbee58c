// SPDX-License-Identifier: Apache-2.0
// engines — the engines of this build by name; engines.def has one row each.
#ifndef GR_INJECT_ENGINES_H
#define GR_INJECT_ENGINES_H

#include "inject/engine.h"

#define ENGINE(id) extern const GrEngine gr_engine_##id;
#include "inject/engines.def"
#undef ENGINE

#endif
