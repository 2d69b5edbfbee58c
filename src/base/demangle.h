// SPDX-License-Identifier: Apache-2.0
// demangle — C++ names as the source spells them.
#ifndef GR_BASE_DEMANGLE_H
#define GR_BASE_DEMANGLE_H

#include "base/arena.h"

// A kernel's or function's name as the source spells it, if a C++ library is at hand; in `arena`, or `name` itself.
const char *gr_demangle(const char *name, Arena *arena);

#endif
