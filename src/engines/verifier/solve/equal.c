// SPDX-License-Identifier: Apache-2.0
// equal — what the facts of a query say of atoms: equalities become substitutions, comparisons narrow ranges.
//
// Nothing is lost by that: atoms stay in the solver with their ranges, and their equalities are asserted.
#include "engines/verifier/solve/reading.h"

#include <string.h>

// ---- Facts, one by one -------------------------------------------------------------------------------------------

static void take_apart(GrReading *r, const GrTerm *x) {
    if (x->op == GR_TERM_AND) {
        take_apart(r, x->arg[0]);
        take_apart(r, x->arg[1]);
    } else if (!gr_vec_push(&r->facts, x)) {
        gr_attempt_nomem();
    }
}

void gr_reading_forget(GrReading *r) {
    memset(r->polys, 0, r->a->t->n_terms * sizeof *r->polys);
    if (r->left)
        memset(r->left, 0, r->a->t->n_terms);
}

// ---- Equalities --------------------------------------------------------------------------------------------------

// How good an atom is to be replaced: other terms are made of symbols of all threads.
static int worth(const GrAtom *a) {
    return a->kind == GR_ATOM_SYMBOL      ? (a->uniform ? 4 : 3)
           : a->kind == GR_ATOM_REMAINDER ? 2
           : a->kind == GR_ATOM_QUOTIENT  ? 1
                                          : 0;
}

// In p == 0: the atom to solve it for, with coefficient 1 or -1; the number of its product, or p->n.
static uint32_t to_solve_for(const GrReading *r, const GrPoly *p) {
    uint32_t best = p->n;
    for (uint32_t k = 0; k < p->n; k++) {
        const GrMono *m = &p->m[k];
        if (m->n != 1 || (m->c != 1 && m->c != -1))
            continue;
        bool alone = worth(&r->atoms.data[m->v[0]]) > 0;
        for (uint32_t j = 0; j < p->n; j++)
            alone &= j == k || !gr_mono_has(&p->m[j], m->v[0]);
        if (alone &&
            (best == p->n || worth(&r->atoms.data[m->v[0]]) > worth(&r->atoms.data[p->m[best].v[0]])))
            best = k;
    }
    return best;
}

static const GrPoly *put(GrReading *r, const GrPoly *p, uint32_t v, const GrPoly *by) {
    return p ? gr_poly_put(&r->p, p, v, by) : NULL;
}

void gr_reading_learn(GrReading *r, uint32_t v, const GrPoly *is) {
    for (size_t n = 0; n < r->atoms.len; n++) {
        GrAtom *a = &r->atoms.data[n];
        a->is = put(r, a->is, v, is);
        a->a = put(r, a->a, v, is);
        a->b = put(r, a->b, v, is);
    }
    r->atoms.data[v].is = is;
    gr_reading_forget(r);
}

// Uses p == 0. False: it cannot be solved for an atom, or says nothing new.
static bool substitute(GrReading *r, const GrPoly *p) {
    uint32_t k = to_solve_for(r, p);
    if (k == p->n)
        return false;
    uint32_t v = p->m[k].v[0];
    GrWide c = p->m[k].c;
    gr_reading_learn(r, v, gr_poly_scale(&r->p, gr_poly_sum(&r->p, 1, p, -c, gr_poly_atom(&r->p, v)), -c));
    return true;
}

// Substitutes one thing that can be solved for among the facts, and in divisions whose remainder is known.
static bool substitute_one(GrReading *r) {
    for (size_t k = 0; k < r->facts.len; k++) {
        GrRelation what;
        const GrPoly *p;
        if (r->facts.data[k]->op == GR_TERM_EQ && gr_read_comparison(r, r->facts.data[k], &what, &p) &&
            substitute(r, p))
            return true;
    }
    for (size_t k = 0; k < r->atoms.len; k++) {
        const GrAtom *a = &r->atoms.data[k];
        GrWide c;
        if (a->kind != GR_ATOM_REMAINDER || !a->is || !gr_poly_is_const(a->is, &c) ||
            gr_reading_range(r, a->b).low < 1 || r->atoms.data[k - 1].is)
            continue;
        const GrPoly *q = gr_poly_mul(&r->p, a->b, gr_poly_atom(&r->p, (uint32_t)k - 1));
        const GrPoly *p = gr_poly_plus(&r->p, gr_poly_sub(&r->p, a->a, q), -c);
        if (!gr_poly_is(p, 0) && substitute(r, p))
            return true;
    }
    return false;
}

// ---- Ranges ------------------------------------------------------------------------------------------------------

static bool narrow(GrReading *r, uint32_t v, GrRange to) {
    GrRange *range = &r->ranges.data[v];
    bool better = false;
    if (to.low > range->low && to.low < GR_ENDLESS) {
        range->low = to.low;
        better = true;
    }
    if (to.high < range->high && to.high > -GR_ENDLESS) {
        range->high = to.high;
        better = true;
    }
    return better;
}

// p <= 0: each product of one atom is at most what the others leave.
bool gr_reading_narrow_by(GrReading *r, const GrPoly *p) {
    bool better = false;
    for (uint32_t k = 0; k < p->n; k++) {
        const GrMono *m = &p->m[k];
        if (m->n != 1)
            continue;
        GrRange others = {0, 0};
        for (uint32_t j = 0; j < p->n; j++)
            if (j != k)
                others = gr_term_range_add(others, gr_mono_range(&p->m[j], r->ranges.data));
        if (others.low <= -GR_ENDLESS)
            continue;
        GrRange to = {-GR_ENDLESS, GR_ENDLESS}; // c * v <= -others.low
        if (m->c > 0)
            to.high = gr_wide_floor(-others.low, m->c);
        else
            to.low = -gr_wide_floor(-others.low, -m->c);
        better |= narrow(r, m->v[0], to);
    }
    return better;
}

// A comparison bounds the very terms that it compares, where these are not cut.
static bool narrow_numbers(GrReading *r, const GrTerm *x) {
    bool negated = x->op == GR_TERM_NOT;
    x = negated ? x->arg[0] : x;
    bool is_signed = x->op == GR_TERM_SLT || x->op == GR_TERM_SLE;
    if (x->op == GR_TERM_EQ) // polynomials say as much
        return false;
    const GrTerm *less = x->arg[negated], *more = x->arg[!negated];
    const GrPoly *l = is_signed ? gr_read_signed(r, less) : gr_read_unsigned(r, less),
                 *m = is_signed ? gr_read_signed(r, more) : gr_read_unsigned(r, more);
    bool strict = (x->op == GR_TERM_SLT || x->op == GR_TERM_ULT) != negated, better = false;
    GrRange rl = gr_reading_range(r, l), rm = gr_reading_range(r, m);
    if (l == gr_read(r, less)) {
        GrRange own = gr_reading_number(r, less);
        rl = own.low > rl.low ? own : rl;
    }
    if (m == gr_read(r, more)) {
        GrRange own = gr_reading_number(r, more);
        rm = own.high < rm.high ? own : rm;
    }
    if (l == gr_read(r, less) && rm.high < GR_ENDLESS)
        better |= gr_reading_narrow_number(r, less, (GrRange){is_signed ? -GR_ENDLESS : 0, rm.high - strict});
    if (m == gr_read(r, more) && rl.low > -GR_ENDLESS)
        better |= gr_reading_narrow_number(r, more, (GrRange){rl.low + strict, GR_ENDLESS});
    return better;
}

bool gr_reading_narrow(GrReading *r) {
    bool better = false;
    for (size_t k = 0; k < r->facts.len; k++) {
        GrRelation what;
        const GrPoly *p;
        if (!gr_read_comparison(r, r->facts.data[k], &what, &p))
            continue;
        better |= narrow_numbers(r, r->facts.data[k]);
        better |= gr_reading_narrow_by(r, what == GR_RELATION_NEGATIVE ? gr_poly_plus(&r->p, p, 1) : p);
        if (what == GR_RELATION_0)
            better |= gr_reading_narrow_by(r, gr_poly_scale(&r->p, p, -1));
    }
    for (size_t k = 0; k < r->atoms.len; k++) { // what an atom was found to be is within its range
        if (!r->atoms.data[k].is)
            continue;
        GrRange range = r->ranges.data[k];
        const GrPoly *is = r->atoms.data[k].is;
        if (range.high < GR_ENDLESS)
            better |= gr_reading_narrow_by(r, gr_poly_plus(&r->p, is, -range.high));
        if (range.low > -GR_ENDLESS)
            better |= gr_reading_narrow_by(r, gr_poly_plus(&r->p, gr_poly_scale(&r->p, is, -1), range.low));
    }
    return better;
}

// ---- All of it ---------------------------------------------------------------------------------------------------

enum { MOST_SUBSTITUTIONS = 100, MOST_ROUNDS = 6 };

void gr_reading_narrow_and_substitute(GrReading *r) {
    // Ranges first: what is known not to be negative reads simpler.
    for (unsigned k = 0; k < MOST_ROUNDS && gr_reading_narrow(r); k++)
        gr_reading_forget(r);
    for (unsigned k = 0; k < MOST_SUBSTITUTIONS && substitute_one(r); k++)
        ;
    for (unsigned k = 0; k < MOST_ROUNDS && gr_reading_narrow(r); k++)
        gr_reading_forget(r);
    gr_reading_forget(r);
}

void gr_reading_begin(GrReading *r, GrAttempt *a, GrTrust trust) {
    *r = (GrReading){.a = a, .trust = trust, .p = {.arena = &a->arena, .nomem = gr_attempt_nomem}};
    r->polys = GR_ATTEMPT_NEW(a, const GrPoly *, a->t->n_terms);
    r->no_sign = gr_reading_unsigned(a);
    r->of_term = GR_ATTEMPT_NEW(a, uint32_t, a->t->n_terms);
    r->of_symbol = GR_ATTEMPT_NEW(a, uint32_t, a->t->n_symbols);
    for (size_t k = 0; k < a->q->n_terms; k++)
        take_apart(r, a->q->terms[k]);
}
