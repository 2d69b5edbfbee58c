// SPDX-License-Identifier: Apache-2.0
// order — when two accesses can be between the same barriers.
#ifndef GR_ENGINES_VERIFIER_DECIDE_ORDER_H
#define GR_ENGINES_VERIFIER_DECIDE_ORDER_H

#include "engines/verifier/decide/pair.h"

// What must hold for the accesses of threads 1 and 2 to be unordered by barriers, over the two threads' own symbols.
// For two blocks only barriers of the grid count, for one warp also the warp's. *doubt: what makes it weaker than the
// program may be (a barrier that not all may reach), NULL: nothing. NULL: memory is out, or *err.
const GrTerm *gr_pair_unordered(GrBound *b, const GrBoundAccess *first, const GrBoundAccess *second,
                                GrLevel level, const char **doubt, gr_error *err);

// When one thread, with an asynchronous copy or two, comes to one access while the other is under way. NULL: no memory.
const GrTerm *gr_pair_in_flight(GrBound *b, const GrBoundAccess *first, const GrBoundAccess *second);

// *all: at each barrier of the whole block all of its threads meet, or none.
gr_status gr_pair_all_meet(GrBound *b, bool *all, gr_error *err);

#endif
