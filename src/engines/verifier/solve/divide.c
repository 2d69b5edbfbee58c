// SPDX-License-Identifier: Apache-2.0
// divide — quotients and remainders of polynomials: folded where they are polynomials, else atoms with a definition.
#include "engines/verifier/solve/reading.h"

bool gr_reading_uniform(const GrReading *r, const GrPoly *p) {
    for (uint32_t k = 0; k < p->n; k++)
        for (uint32_t j = 0; j < p->m[k].n; j++)
            if (!r->atoms.data[p->m[k].v[j]].uniform)
                return false;
    return true;
}

uint32_t gr_reading_atom(GrReading *r, GrAtom atom, GrRange range) {
    if (!gr_vec_push(&r->atoms, atom) || !gr_vec_push(&r->ranges, range))
        gr_attempt_nomem();
    return (uint32_t)r->atoms.len - 1;
}

static GrWide larger(GrWide a, GrWide b) { return a > b ? a : b; }
static GrWide size(GrRange r) { return larger(r.high, -r.low); }

// What a quotient and a remainder can be.
static void ranges_of(GrRange a, GrRange b, GrRounding rounding, GrRange *quotient, GrRange *rest) {
    *quotient = *rest = (GrRange){-GR_ENDLESS, GR_ENDLESS};
    if (b.low < 1 || b.high < b.low) // by 0 and less anything may come out
        return;
    GrWide most = b.high - 1;
    *quotient = (GrRange){-size(a), size(a)};
    *rest = (GrRange){rounding == GR_ROUND_TO_0 ? -most : 0, most};
    if (rounding == GR_ROUND_TO_0 && size(a) < GR_ENDLESS)
        *quotient = (GrRange){-(size(a) / b.low), size(a) / b.low};
    if (rounding == GR_ROUND_NEAREST) {
        *rest = (GrRange){-b.low / 2, b.low / 2 - 1};
        quotient->low--;
        quotient->high++;
    } else if (a.low >= 0) {
        *quotient = (GrRange){a.low / b.high, a.high / b.low};
        *rest = (GrRange){0, most < a.high ? most : a.high};
    } else if (b.low == b.high && rounding == GR_ROUND_DOWN && a.low > -GR_ENDLESS && a.high < GR_ENDLESS) {
        *quotient = (GrRange){gr_wide_floor(a.low, b.low), gr_wide_floor(a.high, b.low)};
    }
}

static void meet(GrRange *r, GrRange with) {
    r->low = with.low > r->low ? with.low : r->low;
    r->high = with.high < r->high ? with.high : r->high;
}

// The quotient atom of a / b.
static uint32_t quotient_of(GrReading *r, const GrPoly *a, const GrPoly *b, GrRounding rounding) {
    GrRange quotient, rest;
    ranges_of(gr_reading_range(r, a), gr_reading_range(r, b), rounding, &quotient, &rest);
    for (uint32_t k = 0; k < r->atoms.len; k++) {
        const GrAtom *q = &r->atoms.data[k];
        if (q->kind != GR_ATOM_QUOTIENT || q->rounding != rounding || !gr_poly_same(q->a, a) ||
            !gr_poly_same(q->b, b))
            continue;
        meet(&r->ranges.data[k], quotient); // a and b may be known better now
        meet(&r->ranges.data[k + 1], rest);
        return k;
    }
    bool uniform = gr_reading_uniform(r, a) && gr_reading_uniform(r, b);
    GrAtom atom = {.kind = GR_ATOM_QUOTIENT, .a = a, .b = b, .rounding = rounding, .uniform = uniform};
    uint32_t q = gr_reading_atom(r, atom, quotient);
    atom.kind = GR_ATOM_REMAINDER;
    gr_reading_atom(r, atom, rest);
    return q;
}

// The atom, or what it was found to be.
static const GrPoly *value(GrReading *r, uint32_t atom) {
    const GrPoly *is = r->atoms.data[atom].is;
    return is ? is : gr_poly_atom(&r->p, atom);
}

static void by_atoms(GrReading *r, const GrPoly *a, const GrPoly *b, GrRounding rounding,
                     const GrPoly **quotient, const GrPoly **remainder) {
    GrRange ra = gr_reading_range(r, a), rb = gr_reading_range(r, b);
    if (ra.low >= 0 && ra.high < rb.low) { // a < b
        *quotient = gr_poly_const(&r->p, 0);
        *remainder = a;
        return;
    }
    uint32_t q = quotient_of(r, a, b, rounding);
    *quotient = value(r, q);
    *remainder = value(r, q + 1);
}

// Divides by a positive constant, downwards.
static void by_constant(GrReading *r, const GrPoly *a, GrWide c, const GrPoly **quotient,
                        const GrPoly **remainder) {
    GrPolys *p = &r->p;
    const GrPoly *whole, *rest;
    gr_poly_split(p, a, &(GrMono){.c = c}, &whole, &rest);
    GrWide low = gr_poly_constant(rest);
    GrWide up = gr_wide_floor(low, c); // the constant goes into [0, c)
    whole = gr_poly_plus(p, whole, up);
    rest = gr_poly_plus(p, rest, -up * c);
    GrRange range = gr_reading_range(r, rest);
    if (range.low > -GR_ENDLESS && range.high < GR_ENDLESS &&
        gr_wide_floor(range.low, c) == gr_wide_floor(range.high, c)) {
        GrWide k = gr_wide_floor(range.low, c);
        *quotient = gr_poly_plus(p, whole, k);
        *remainder = gr_poly_plus(p, rest, -k * c);
        return;
    }
    // (g * x + k) / (g * d) = (x + k / g) / d, and what is left of k is left.
    GrWide g = gr_poly_gcd(rest), k = gr_poly_constant(rest);
    if (g && c % g == 0) {
        const GrPoly *x = gr_poly_over(p, gr_poly_plus(p, rest, -k), g), *q, *rem;
        x = gr_poly_plus(p, x, gr_wide_floor(k, g));
        by_atoms(r, x, gr_poly_const(p, c / g), GR_ROUND_DOWN, &q, &rem);
        *quotient = gr_poly_add(p, whole, q);
        *remainder = gr_poly_plus(p, gr_poly_scale(p, rem, g), k - gr_wide_floor(k, g) * g);
        return;
    }
    const GrPoly *q;
    by_atoms(r, rest, gr_poly_const(p, c), GR_ROUND_DOWN, &q, remainder);
    *quotient = gr_poly_add(p, whole, q);
}

void gr_read_division(GrReading *r, const GrPoly *a, const GrPoly *b, GrRounding rounding,
                      const GrPoly **quotient, const GrPoly **remainder) {
    const GrPoly *q, *rem;
    GrWide c;
    GrRange rb = gr_reading_range(r, b);
    if (gr_reading_range(r, a).low >= 0)
        rounding = GR_ROUND_DOWN;
    if (rounding == GR_ROUND_TO_0 && gr_reading_range(r, a).high <= 0 && rb.low >= 1) { // -(-a / b)
        gr_read_division(r, gr_poly_scale(&r->p, a, -1), b, GR_ROUND_DOWN, &q, &rem);
        q = gr_poly_scale(&r->p, q, -1);
        rem = gr_poly_scale(&r->p, rem, -1);
    } else if (rounding == GR_ROUND_DOWN && gr_poly_is_const(b, &c) && c > 0) {
        by_constant(r, a, c, &q, &rem);
    } else if (rounding == GR_ROUND_DOWN && rb.low >= 1 && b->n == 1) {
        const GrPoly *whole, *rest;
        gr_poly_split(&r->p, a, &b->m[0], &whole, &rest);
        by_atoms(r, rest, b, rounding, &q, &rem);
        q = gr_poly_add(&r->p, whole, q);
    } else {
        by_atoms(r, a, b, rounding, &q, &rem);
    }
    if (quotient)
        *quotient = q;
    if (remainder)
        *remainder = rem;
}

const GrPoly *gr_read_cut(GrReading *r, const GrPoly *a, uint32_t bits) {
    GrWide all = (GrWide)1 << bits;
    const GrPoly *whole, *rest;
    GrRange range = gr_reading_range(r, a);
    if (range.low >= -all / 2 && range.high < all / 2)
        return a;
    gr_poly_split(&r->p, a, &(GrMono){.c = all}, &whole, &rest);
    range = gr_reading_range(r, rest);
    if (range.low >= -all / 2 && range.high < all / 2)
        return rest;
    // An atom of its own, which may be the size of a row.
    return value(r, quotient_of(r, rest, gr_poly_const(&r->p, all), GR_ROUND_NEAREST) + 1);
}
