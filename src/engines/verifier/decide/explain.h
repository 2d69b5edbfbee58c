// SPDX-License-Identifier: Apache-2.0
// explain — --explain: the facts without which a pair is not proved, and the fact that would prove one that is open.
#ifndef GR_ENGINES_VERIFIER_DECIDE_EXPLAIN_H
#define GR_ENGINES_VERIFIER_DECIDE_EXPLAIN_H

#include "engines/verifier/decide/tell.h"

// What was found out about the pairs of one kernel and launch, by source lines. All 0 at first.
typedef struct GrExplained {
    double seconds; // of asking
    VEC(struct GrReason *) reasons;
} GrExplained;
void gr_explained_free(GrExplained *e);

// Asks about accesses i and j of the bound model again. For a proved pair without one fact after the other, and keeps
// those that it needs; for another pair with one candidate after the other. GR_ERR_NOMEM and errors of the solver.
gr_status gr_explain(GrExplained *e, GrBound *b, size_t i, size_t j, bool proved, gr_error *err);
// A remark for each two lines.
gr_status gr_explain_end(const GrExplained *e, const GrTold *t);

// candidates.c: at most `most` facts that a pair may lack, the likeliest first. Terms: the launch's, or threads' 1 and
// 2.
typedef struct GrCandidate {
    const GrTerm *terms[2]; // both hold; the second may be NULL
    StrBuf text;            // "rows == cols"
} GrCandidate;
typedef VEC(GrCandidate) GrCandidates;
gr_status gr_candidates(GrBound *b, const GrBoundAccess *x, const GrBoundAccess *y, size_t most,
                        GrCandidates *out, gr_error *err);
void gr_candidates_free(GrCandidates *c);

#endif
