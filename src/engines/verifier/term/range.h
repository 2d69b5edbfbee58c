// SPDX-License-Identifier: Apache-2.0
// range — between which numbers a value lies, by a quick look at its term.
#ifndef GR_ENGINES_VERIFIER_TERM_RANGE_H
#define GR_ENGINES_VERIFIER_TERM_RANGE_H

#include "engines/verifier/term/term.h"

typedef struct GrTermRange { // both in it
    int64_t low, high;
} GrTermRange;

// The term's range, read as signed, if `guard` holds (1 bit; NULL: nothing is known). By machine arithmetic: what may
// wrap has the whole range of its width.
GrTermRange gr_term_range(const GrTerm *a, const GrTerm *guard);

// A term of 1 bit is 0 whenever `guard` holds, by the ranges of its operands. False: it is not, or that is not known.
bool gr_term_never(const GrTerm *a, const GrTerm *guard);

#endif
