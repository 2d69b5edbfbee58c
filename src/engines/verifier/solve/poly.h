// SPDX-License-Identifier: Apache-2.0
// poly — polynomials with integer coefficients over atoms (numbered variables), and ranges of integers.
//
// A polynomial never changes once it is made. Too large a coefficient or degree sets *lost, and the result is any.
#ifndef GR_ENGINES_VERIFIER_SOLVE_POLY_H
#define GR_ENGINES_VERIFIER_SOLVE_POLY_H

#include "base/arena.h"

#include <stdint.h>

typedef __int128 GrWide;

enum { GR_DEGREE = 6 };

typedef struct GrMono {
    GrWide c;              // not 0
    uint32_t n;            // degree; 0: the constant
    uint32_t v[GR_DEGREE]; // ascending; a power is a repetition
} GrMono;

typedef struct GrPoly {
    uint32_t n;
    GrMono m[]; // one for each product of atoms, in a fixed order: the constant first
} GrPoly;

// Where polynomials live. Memory that runs out ends the child (attempt.h).
typedef struct GrPolys {
    Arena *arena;
    void (*nomem)(void);
    bool lost; // some result was too large
} GrPolys;

const GrPoly *gr_poly_const(GrPolys *p, GrWide c);
const GrPoly *gr_poly_atom(GrPolys *p, uint32_t v);
const GrPoly *gr_poly_mono(GrPolys *p, const GrMono *m);
// ka * a + kb * b
const GrPoly *gr_poly_sum(GrPolys *p, GrWide ka, const GrPoly *a, GrWide kb, const GrPoly *b);
const GrPoly *gr_poly_mul(GrPolys *p, const GrPoly *a, const GrPoly *b);
static inline const GrPoly *gr_poly_add(GrPolys *p, const GrPoly *a, const GrPoly *b) {
    return gr_poly_sum(p, 1, a, 1, b);
}
static inline const GrPoly *gr_poly_sub(GrPolys *p, const GrPoly *a, const GrPoly *b) {
    return gr_poly_sum(p, 1, a, -1, b);
}
static inline const GrPoly *gr_poly_plus(GrPolys *p, const GrPoly *a, GrWide c) {
    return gr_poly_sum(p, 1, a, 1, gr_poly_const(p, c));
}
static inline const GrPoly *gr_poly_scale(GrPolys *p, const GrPoly *a, GrWide k) {
    return gr_poly_sum(p, k, a, 0, gr_poly_const(p, 0));
}
// All coefficients and the constant are multiples of k.
const GrPoly *gr_poly_over(GrPolys *p, const GrPoly *a, GrWide k);
// a = quotient * divisor + rest: the quotient gathers what the divisor, a product with positive coefficient, divides.
void gr_poly_split(GrPolys *p, const GrPoly *a, const GrMono *divisor, const GrPoly **quotient,
                   const GrPoly **rest);
// `by` for atom v.
const GrPoly *gr_poly_put(GrPolys *p, const GrPoly *a, uint32_t v, const GrPoly *by);

bool gr_poly_same(const GrPoly *a, const GrPoly *b);
bool gr_poly_has(const GrPoly *a, uint32_t v);
bool gr_mono_has(const GrMono *m, uint32_t v);
bool gr_poly_is_const(const GrPoly *a, GrWide *c);
static inline bool gr_poly_is(const GrPoly *a, GrWide c) {
    GrWide k;
    return gr_poly_is_const(a, &k) && k == c;
}
GrWide gr_poly_constant(const GrPoly *a); // its constant
GrWide gr_poly_gcd(const GrPoly *a);      // of the coefficients without the constant; 0: there are none
GrWide gr_wide_floor(GrWide a, GrWide b); // a / b downwards, b > 0

// ---- Ranges --------------------------------------------------------------------------------------------------------

// low <= x <= high; from GR_ENDLESS on it is not known.
#define GR_ENDLESS ((GrWide)1 << 120)
typedef struct GrRange {
    GrWide low, high;
} GrRange;

GrRange gr_term_range_add(GrRange a, GrRange b);
GrRange gr_term_range_mul(GrRange a, GrRange b);
// The range of a product without its coefficient; `of` has the ranges of atoms.
GrRange gr_mono_range(const GrMono *m, const GrRange *of);
GrRange gr_poly_range(const GrPoly *a, const GrRange *of);

#endif
