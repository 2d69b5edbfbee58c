// SPDX-License-Identifier: Apache-2.0
// generations — whether flags that count the rounds of a loop order two accesses of two blocks.
#ifndef GR_ENGINES_VERIFIER_DECIDE_GENERATIONS_H
#define GR_ENGINES_VERIFIER_DECIDE_GENERATIONS_H

#include "engines/verifier/decide/pair.h"

// `v` is SHOWN or POSSIBLE, as for gr_locks_decide. *tried: such flags, or what looks like them, are around the
// accesses; then `v` is PROVED or says what is wrong.
gr_status gr_generations_decide(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o,
                                bool *tried, gr_error *err);

#endif
