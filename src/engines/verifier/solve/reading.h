// SPDX-License-Identifier: Apache-2.0
// reading — terms as polynomials over the integers.
//
// A term stands for the integer that its bits mean with a sign, and sums and products of 32 and 64 bits are taken not to wrap. What is no
// polynomial becomes an atom: a quotient and a remainder with their definition, a choice, or an integer of which only the range is known.
// The reading says more than can happen, never less (but for the wrapping): what cannot hold of it cannot hold.
#ifndef GR_VERIFIER_READING_H
#define GR_VERIFIER_READING_H

#include "base/vec.h"
#include "engines/verifier/solve/attempt.h"
#include "engines/verifier/solve/poly.h"

typedef enum GrAtomKind {
    GR_ATOM_SYMBOL,
    GR_ATOM_OPAQUE,    // an operation that is not read: `term`
    GR_ATOM_READ,      // `term`
    GR_ATOM_CHOICE,    // an ITE: `term`
    GR_ATOM_BOOL,      // 1 where `term` of one bit holds, else 0
    GR_ATOM_NEGATIVE,  // 1 where `a` is below 0, else 0
    GR_ATOM_QUOTIENT,  // of a / b; the next atom is the remainder
    GR_ATOM_REMAINDER, // a = b * quotient + remainder where b > 0
} GrAtomKind;

typedef enum GrRounding {
    GR_ROUND_DOWN,    // 0 <= remainder < b
    GR_ROUND_TO_0,    // the remainder has the sign of a
    GR_ROUND_NEAREST, // -b / 2 <= remainder < b / 2, for an even number b
} GrRounding;

typedef struct GrAtom {
    GrAtomKind kind;
    const GrTerm *term;
    const GrSymbol *sym;
    const GrPoly *a, *b; // of a quotient (and its remainder), of NEGATIVE
    GrRounding rounding;
    bool uniform;     // has one value for both threads
    const GrPoly *is; // an equality says so; NULL: none. The atom is in no polynomial any more
} GrAtom;

typedef struct GrReading {
    GrAttempt *a;
    GrPolys p;
    VEC(GrAtom) atoms;
    VEC(GrRange) ranges;           // by atom
    const GrPoly **polys;          // by term id
    const bool *no_sign;           // by symbol id
    uint32_t *of_symbol, *of_term; // atom + 1, by id
    VEC(const GrTerm *) facts;     // the query's, conjunctions taken apart
    const GrTerm *opaque;          // the first term that is not read; NULL: none
} GrReading;

// Reads the query's terms: equalities become substitutions, ranges are narrowed by comparisons.
void gr_reading_init(GrReading *r, GrAttempt *a);

// The integer that a term means with a sign, and without one.
const GrPoly *gr_read(GrReading *r, const GrTerm *x);
const GrPoly *gr_read_unsigned(GrReading *r, const GrTerm *x);

GrRange gr_reading_range(const GrReading *r, const GrPoly *p);
bool gr_reading_uniform(const GrReading *r, const GrPoly *p);

// A comparison as p < 0, p <= 0 or p == 0; false: it is none of them.
typedef enum GrRelation { GR_RELATION_NEGATIVE, GR_RELATION_AT_MOST_0, GR_RELATION_0 } GrRelation;
bool gr_read_comparison(GrReading *r, const GrTerm *x, GrRelation *what, const GrPoly **p);

// Inside: divide.c.
// Quotient or remainder may be NULL. Not of GR_ROUND_NEAREST.
void gr_read_division(GrReading *r, const GrPoly *a, const GrPoly *b, GrRounding rounding,
                      const GrPoly **quotient, const GrPoly **remainder);
uint32_t gr_reading_atom(GrReading *r, GrAtom atom, GrRange range);
// a cut to `bits` bits and read with a sign.
const GrPoly *gr_read_cut(GrReading *r, const GrPoly *a, uint32_t bits);
// Inside: equal.c.
// An atom is found to be `is`.
void gr_reading_learn(GrReading *r, uint32_t atom, const GrPoly *is);
// Inside: sign.c. Which symbols are read without a sign, by id.
bool *gr_reading_unsigned(GrAttempt *a);

#endif
