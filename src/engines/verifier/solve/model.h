// SPDX-License-Identifier: Apache-2.0
// model — a model that a solver found: whether it holds on a machine, and how it travels through a pipe.
#ifndef GR_ENGINES_VERIFIER_SOLVE_MODEL_H
#define GR_ENGINES_VERIFIER_SOLVE_MODEL_H

#include "engines/verifier/solve/solve.h"

// An empty model: every symbol is 0, or the end of its range that is nearest.
bool gr_model_init(GrSolverModel *m, const GrTerms *t);
void gr_model_free(GrSolverModel *m);

// Adds what memory holds where the READs `reads` (operands before users) read. False: memory is out.
bool gr_model_reads(GrSolverModel *m, const GrTerm *const *reads, const uint64_t *values, size_t n);

typedef enum GrHolds { GR_HOLDS_NO, GR_HOLDS_YES, GR_HOLDS_NOMEM } GrHolds;

// All of the query is true in machine arithmetic, and every symbol within its range.
GrHolds gr_model_holds(const GrSolverModel *m, const GrTerms *t, const GrQuery *q);

bool gr_model_write(const GrSolverModel *m, int out);
// Takes the model from data[0 .. len). False: it is none, or memory is out.
bool gr_model_take(GrSolverModel *m, const char *data, size_t len);

#endif
