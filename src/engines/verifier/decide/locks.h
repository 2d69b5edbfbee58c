// SPDX-License-Identifier: Apache-2.0
// locks — whether locks or flags order two accesses that would race without.
#ifndef GR_ENGINES_VERIFIER_DECIDE_LOCKS_H
#define GR_ENGINES_VERIFIER_DECIDE_LOCKS_H

#include "engines/verifier/decide/pair.h"

// `v` is SHOWN or POSSIBLE; terms and o are what was solved. Makes it PROVED if a lock of sufficient scope is around
// both, or a flag between them; else says what is wrong with the lock, if there is something like one.
gr_status gr_locks_decide(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o,
                          gr_error *err);

#endif
