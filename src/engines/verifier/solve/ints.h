// SPDX-License-Identifier: Apache-2.0
// ints — a query over the integers: what is asserted, lemmas, and the digits of an overlap.
#ifndef GR_ENGINES_VERIFIER_SOLVE_INTS_H
#define GR_ENGINES_VERIFIER_SOLVE_INTS_H

#include "engines/verifier/solve/reading.h"

typedef VEC(Z3_ast) GrAsts;
typedef VEC(const GrPoly *) GrPolyList;

typedef struct GrInts {
    GrAttempt *a;
    GrReading r;
    Z3_context z;
    GrAsts vars;          // by atom
    Z3_ast *bools;        // by term id
    GrAsts facts;         // the query's terms, what atoms are, and their ranges
    size_t defined;       // atoms whose definition is among the facts
    VEC(GrMono) products; // of two atoms and more that some formula has, without coefficients
    double lemmas_until;  // no lemma is tried after that
    // Atoms that are tried with one value, which is put in before the solver sees a product.
    GrAsts fixed, fixed_to;
} GrInts;

void gr_ints_init(GrInts *s, GrAttempt *a, GrTrust trust);

// ---- Formulas (formula.c) ----------------------------------------------------------------------------------------

Z3_ast gr_ints_poly(GrInts *s, const GrPoly *p);
// The formula p == 0, p <= 0 or p < 0.
Z3_ast gr_ints_relation(GrInts *s, GrRelation what, const GrPoly *p);
Z3_ast gr_ints_bool(GrInts *s, const GrTerm *x);
Z3_ast gr_ints_or(GrInts *s, Z3_ast a, Z3_ast b);
// Brings the facts up to date with atoms that were made since.
void gr_ints_define(GrInts *s);

// Finds values that are not negative after all, and those that are not cut: these read simpler if the facts say so.
void gr_ints_learn(GrInts *s);

// Checks the facts and `more` at once; *model is set for Z3_L_TRUE unless it is NULL.
Z3_lbool gr_ints_check(GrInts *s, const Z3_ast *more, size_t n, unsigned ms, Z3_model *model);
// The facts exclude `otherwise`, found out in a short time.
bool gr_ints_proves(GrInts *s, Z3_ast otherwise);

// ---- Digits (digits.c) -------------------------------------------------------------------------------------------

// What p == 0 means, as equations of which all must hold: the digits of p. False: it cannot hold.
bool gr_ints_digits(GrInts *s, const GrPoly *p, GrPolyList *out);

#endif
