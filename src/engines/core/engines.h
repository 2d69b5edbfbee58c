// SPDX-License-Identifier: Apache-2.0
// engines — the engines of this build by name; engines.def has one row each.
#ifndef GR_INJECT_ENGINES_H
#define GR_INJECT_ENGINES_H

#include "engines/core/engine.h"

#ifndef GR_ENGINES_DEF // a test builds the library with engines of its own
#define GR_ENGINES_DEF "engines/core/engines.def"
#endif

// The engine that runs the collider and the causality engine at once.
#define GR_ENGINE_BOTH "collider+exact"

#define ENGINE(id) extern const GrEngine gr_engine_##id;
#include GR_ENGINES_DEF
#undef ENGINE

#endif
