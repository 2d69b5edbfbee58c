// SPDX-License-Identifier: Apache-2.0
// demangle — C++ names as the source spells them.
#ifndef GR_BASE_DEMANGLE_H
#define GR_BASE_DEMANGLE_H

#include "base/arena.h"

// The name of a kernel or function as the source spells it, demangled when a C++ library is at hand; in `arena`, or `name` itself.
const char *gr_demangle(const char *name, Arena *arena);

#endif
