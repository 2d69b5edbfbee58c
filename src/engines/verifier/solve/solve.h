// SPDX-License-Identifier: Apache-2.0
// solve — whether terms can hold at once (Z3, in a child process with hard limits).
//
// Terms are read as integers first. What may leave the range of its bits under the query's bounds is cut to them
// (exact). Only what leaves it for large unknown numbers of the launch is assumed not to, and named (GrSolved.wraps);
// with GrQuery.wrap nothing is. Bit strings decide what integers do not, with the same assumptions. A difference of two
// addresses falls apart level by level (digit decomposition), products get hints. A model is evaluated again in machine
// arithmetic: one that does not hold there is no answer.
#ifndef GR_ENGINES_VERIFIER_SOLVE_SOLVE_H
#define GR_ENGINES_VERIFIER_SOLVE_SOLVE_H

#include "base/status.h"
#include "engines/verifier/term/term.h"

struct GrCache; // cache.h

typedef enum GrAnswer {
    GR_ANSWER_NO,  // they cannot hold at once
    GR_ANSWER_YES, // they can: the model says how
    GR_ANSWER_OPEN, // of GrQuery.any_model: integers can, and whether a machine's numbers can was not looked for
    GR_ANSWER_ASSUMED, // they cannot unless `wraps` leaves the range of its bits, and whether it does is not decided
    GR_ANSWER_UNKNOWN, // out of time or memory, or what a term says is more than the solver decides
} GrAnswer;

// Two ranges of bytes: do [a, a + a_size) and [b, b + b_size) meet? It is decomposed, so it is not among the terms.
typedef struct GrOverlap {
    const GrTerm *a, *b; // 64 bits
    uint32_t a_size, b_size;
} GrOverlap;

typedef struct GrQuery {
    const GrTerm *const *terms; // 1 bit each: all must hold
    size_t n_terms;
    const GrOverlap *overlap; // NULL: none
    double seconds;           // 0: 5
    bool wrap;                // whatever may leave its range does
    // The terms whose product is the launch's number of threads, n_sizes of them; NULL: not known.
    const GrTerm *const *sizes;
    size_t n_sizes;
    bool any_model; // nobody reads the model: the first one will do, and OPEN is an answer
} GrQuery;

typedef struct GrSolverModel {
    uint64_t *values; // by GrSymbol.id, zero-extended; n_values of them
    uint32_t n_values;
    // What memory holds that is read (READ): object's id, offset, width, value.
    struct GrSolverCell {
        uint32_t object, bits;
        uint64_t offset, value;
    } * cells;
    size_t n_cells;
} GrSolverModel;

typedef struct GrSolved {
    GrAnswer answer;
    GrSolverModel model; // of YES
    // "integers", "small scope", "bit strings"; of UNKNOWN the term or limit that defeated it. Lives like the GrTerms.
    const char *how;
    double seconds;
    // NO: an operation that is assumed to stay in the range of its bits; NULL: none. ASSUMED: the one it depends on.
    const GrTerm *wraps;
} GrSolved;

// A solver for many queries over one GrTerms. GR_ERR_UNSUPPORTED: this build has no Z3.
typedef struct GrSolver GrSolver;
gr_status gr_solver_create(GrTerms *t, GrSolver **out, gr_error *err);
void gr_solver_free(GrSolver *s);
// From now on answers come from this cache and go to it (cache.h). It is the caller's, and outlives the solver.
void gr_solver_use(GrSolver *s, struct GrCache *cache);
// The solver's own name and version.
const char *gr_solver_version(void);

typedef struct GrSolverCounts {
    uint64_t asked, kept; // questions to Z3; answers from the cache
} GrSolverCounts;
GrSolverCounts gr_solver_counts(const GrSolver *s);

// GR_OK whatever the answer is; an error is one of ours (memory, fork).
gr_status gr_solve(GrSolver *s, const GrQuery *q, GrSolved *out, gr_error *err);
void gr_solved_free(GrSolved *s);

// Values of the model, for gr_term_value; symbols it does not mention are 0 or the nearest end of their range.
GrValues gr_solver_values(const GrSolverModel *m);

#endif
