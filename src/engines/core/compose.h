// SPDX-License-Identifier: Apache-2.0
// compose — two engines in one execution: --engine A+B.
#ifndef GR_ENGINES_CORE_COMPOSE_H
#define GR_ENGINES_CORE_COMPOSE_H

#include "engines/core/engine.h"

// The engine of a name with a `+`; NULL: one of the two is not there, or they contradict each other. It lives until the
// next call with another name.
const GrEngine *gr_engine_compose(const char *name);

#endif
