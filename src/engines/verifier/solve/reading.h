// SPDX-License-Identifier: Apache-2.0
// reading — terms as polynomials over the integers.
//
// A term's polynomial is any integer that equals it up to multiples of 2^bits: sums, differences and products need no
// more. An operation that looks at the number itself (an extension, a division, a comparison) needs a polynomial in the
// number's range. It lies there by its range, or it is cut by a quotient of 2^bits, or it is assumed to lie there
// (GrTrust). What is no polynomial becomes an atom: a quotient and a remainder with their definition, a choice, or an
// integer of which only the range is known. The reading says more than can happen, never less (but for what it
// assumes): what cannot hold of it cannot hold.
#ifndef GR_ENGINES_VERIFIER_SOLVE_READING_H
#define GR_ENGINES_VERIFIER_SOLVE_READING_H

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
    GrTrust trust;
    bool capped; // unknown numbers of the launch are small
    // By term id, how it is looked at where it leaves its range even with small unknown numbers; NULL: not known.
    const uint8_t *large;
    // By term id, how it is looked at where its bounds leave its range, since the last gr_reading_forget.
    uint8_t *left;
    const GrRange *known; // of symbols, by id; NULL: their own ranges
    GrLooks trusted;      // so far
    const GrTerm *cut;    // the first operation that leaves its range and is not trusted; NULL: none does
    GrPolys p;
    VEC(GrAtom) atoms;
    VEC(GrRange) ranges;           // by atom
    const GrPoly **polys;          // by term id
    const bool *no_sign;           // by symbol id
    uint32_t *of_symbol, *of_term; // atom + 1, by id
    // GrRange, by term id: the facts' range of the integer that gr_read gives, where that is always the same one.
    Map numbers;
    VEC(const GrTerm *) facts; // the query's, conjunctions taken apart
    const GrTerm *opaque;      // the first term that is not read; NULL: none
} GrReading;

// Reads the query's terms: equalities become substitutions, ranges are narrowed by comparisons.
void gr_reading_init(GrReading *r, GrAttempt *a, GrTrust trust);

// An integer that equals the term up to multiples of 2^bits.
const GrPoly *gr_read(GrReading *r, const GrTerm *x);
// The integer that the term's bits mean with a sign.
const GrPoly *gr_read_signed(GrReading *r, const GrTerm *x);
// The integer that they mean without a sign.
const GrPoly *gr_read_unsigned(GrReading *r, const GrTerm *x);
// a - b of two offsets of 64 bits, as a number with a sign.
const GrPoly *gr_read_distance(GrReading *r, const GrTerm *a, const GrTerm *b);

static inline GrRange gr_reading_range(const GrReading *r, const GrPoly *p) {
    return gr_poly_range(p, r->ranges.data);
}
GrRange gr_reading_symbol(const GrReading *r, const GrSymbol *s); // of which nothing is known
bool gr_reading_uniform(const GrReading *r, const GrPoly *p);

// A comparison as p < 0, p <= 0 or p == 0; false: it is none of them.
typedef enum GrRelation { GR_RELATION_NEGATIVE, GR_RELATION_AT_MOST_0, GR_RELATION_0 } GrRelation;
bool gr_read_comparison(GrReading *r, const GrTerm *x, GrRelation *what, const GrPoly **p);

// The range of the integer that gr_read gives, by its polynomial, operands and facts.
GrRange gr_reading_number(GrReading *r, const GrTerm *x);
// A fact puts that integer into `to`. True: its range is narrower.
bool gr_reading_narrow_number(GrReading *r, const GrTerm *x, GrRange to);

// Inside: divide.c.
// Quotient or remainder may be NULL. Not of GR_ROUND_NEAREST.
void gr_read_division(GrReading *r, const GrPoly *a, const GrPoly *b, GrRounding rounding,
                      const GrPoly **quotient, const GrPoly **remainder);
uint32_t gr_reading_atom(GrReading *r, GrAtom atom, GrRange range);
// a cut to `bits` bits and read with a sign.
const GrPoly *gr_read_cut(GrReading *r, const GrPoly *a, uint32_t bits);
// Inside: equal.c. Notes that an atom is found to be `is`.
void gr_reading_learn(GrReading *r, uint32_t atom, const GrPoly *is);
// Begins a reading with the query's facts; finds what they say of atoms.
void gr_reading_begin(GrReading *r, GrAttempt *a, GrTrust trust);
void gr_reading_narrow_and_substitute(GrReading *r);
void gr_reading_forget(GrReading *r);
// Narrows ranges by each fact once. True: some range is narrower.
bool gr_reading_narrow(GrReading *r);
// Narrows ranges by p <= 0. True: some range is narrower.
bool gr_reading_narrow_by(GrReading *r, const GrPoly *p);
// Inside: sign.c. Which symbols are read without a sign, by id.
bool *gr_reading_unsigned(GrAttempt *a);

#endif
