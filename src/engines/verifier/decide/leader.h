// SPDX-License-Identifier: Apache-2.0
// leader — whether a lock that one thread takes for its whole block orders two accesses of two blocks.
#ifndef GR_ENGINES_VERIFIER_DECIDE_LEADER_H
#define GR_ENGINES_VERIFIER_DECIDE_LEADER_H

#include "engines/verifier/decide/pair.h"

// `v` is SHOWN or POSSIBLE, as for gr_locks_decide. *tried: both accesses have such a lock around them, or what looks
// like one; then `v` is PROVED or says what is wrong.
gr_status gr_leader_decide(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o, bool *tried,
                           gr_error *err);

#endif
