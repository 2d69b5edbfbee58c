// SPDX-License-Identifier: Apache-2.0
// digits — an equation falls apart level by level, as a number does into its digits.
//
// E = S * Q + R with -S < R < S is 0 exactly if Q and R are. S is a size that all threads share (a row's length) or a
// constant; R is small because the facts say so. So there are short lemmas, mostly linear, instead of one question that
// is not. An equation that gives an atom is put into the others. Divisions with equal results by equal divisors have
// dividends that can be compared in turn.
#include "engines/verifier/solve/ints.h"

#include <stdlib.h>

enum { MOST_EQUATIONS = 200 };

// ---- Lemmas ------------------------------------------------------------------------------------------------------

// The facts prove -size < p < size: by ranges, else by the solver in a short time.
static bool proves_small(GrInts *s, const GrPoly *p, const GrPoly *size) {
    GrRange range = gr_reading_range(&s->r, p), least = gr_reading_range(&s->r, size);
    if (range.high < least.low && range.low > -least.low)
        return true;
    GrPolys *ps = &s->r.p;
    Z3_ast high = gr_ints_relation(s, GR_RELATION_AT_MOST_0, gr_poly_sub(ps, size, p));
    Z3_ast low = gr_ints_relation(s, GR_RELATION_AT_MOST_0, gr_poly_add(ps, size, p));
    return gr_ints_proves(s, gr_ints_or(s, high, low));
}

// The facts prove p >= 1.
static bool proves_positive(GrInts *s, const GrPoly *p) {
    if (gr_reading_range(&s->r, p).low >= 1)
        return true;
    return gr_ints_proves(s, gr_ints_relation(s, GR_RELATION_AT_MOST_0, p));
}

// ---- What is known so far ----------------------------------------------------------------------------------------

typedef struct Digits {
    GrInts *s;
    GrPolyList work;   // == 0, to be taken apart
    GrPolyList finals; // == 0, as far as they come
    VEC(uint32_t) solved;
    GrPolyList is;          // what solved[k] is; has no solved atom
    bool *positive, *asked; // by atom
    size_t n_known;
    unsigned rounds;
} Digits;

static void push(GrPolyList *to, const GrPoly *p) {
    if (!gr_vec_push(to, p))
        gr_attempt_nomem();
}

static const GrPoly *reduced(const Digits *d, const GrPoly *p) {
    for (size_t k = 0; k < d->solved.len; k++)
        p = gr_poly_put(&d->s->r.p, p, d->solved.data[k], d->is.data[k]);
    return p;
}

static bool positive(Digits *d, uint32_t atom) {
    if (atom >= d->n_known)
        return proves_positive(d->s, gr_poly_atom(&d->s->r.p, atom));
    if (!d->asked[atom]) {
        d->asked[atom] = true;
        d->positive[atom] = proves_positive(d->s, gr_poly_atom(&d->s->r.p, atom));
    }
    return d->positive[atom];
}

// p == 0 gives an atom that it has once, alone and with 1 or -1.
static bool solve_for_atom(Digits *d, const GrPoly *p) {
    GrPolys *ps = &d->s->r.p;
    for (uint32_t k = 0; k < p->n; k++) {
        const GrMono *m = &p->m[k];
        if (m->n != 1 || (m->c != 1 && m->c != -1) || d->s->r.atoms.data[m->v[0]].uniform)
            continue;
        bool alone = true;
        for (uint32_t j = 0; j < p->n; j++)
            alone &= j == k || !gr_mono_has(&p->m[j], m->v[0]);
        if (!alone)
            continue;
        uint32_t v = m->v[0];
        const GrPoly *is = gr_poly_scale(ps, gr_poly_sum(ps, 1, p, -m->c, gr_poly_atom(ps, v)), -m->c);
        for (size_t n = 0; n < d->is.len; n++)
            d->is.data[n] = gr_poly_put(ps, d->is.data[n], v, is);
        push(&d->is, is);
        if (!gr_vec_push(&d->solved, v))
            gr_attempt_nomem();
        return true;
    }
    return false;
}

// ---- Taking one equation apart -----------------------------------------------------------------------------------

typedef struct Cut {
    GrMono by;
    const GrPoly *high, *low; // by * high + low
} Cut;

static uint32_t degree(const GrPoly *p) { return p->n ? p->m[p->n - 1].n : 0; }

// Few and simple products first: their lemmas are linear.
static int simpler(const void *a, const void *b) {
    const Cut *x = a, *y = b;
    uint32_t dx = degree(x->low), dy = degree(y->low);
    if (dx != dy)
        return dx < dy ? -1 : 1;
    if (x->low->n != y->low->n)
        return x->low->n < y->low->n ? -1 : 1;
    if (x->by.n != y->by.n)
        return x->by.n > y->by.n ? -1 : 1;
    return x->by.c < y->by.c ? -1 : x->by.c > y->by.c;
}

enum { MOST_CUTS = 24 };

static void consider(Digits *d, const GrPoly *p, GrMono by, Cut *cuts, uint32_t *n) {
    Cut c = {.by = by};
    for (uint32_t k = 0; k < *n; k++)
        if (cuts[k].by.c == by.c && cuts[k].by.n == by.n && cuts[k].by.v[0] == by.v[0])
            return;
    gr_poly_split(&d->s->r.p, p, &by, &c.high, &c.low);
    GrWide constant;
    if (*n < MOST_CUTS && !gr_poly_is_const(c.high, &constant))
        cuts[(*n)++] = c;
}

static uint32_t find_cuts(Digits *d, const GrPoly *p, Cut *cuts) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->n; k++) {
        const GrMono *m = &p->m[k];
        GrWide size = m->c < 0 ? -m->c : m->c;
        for (uint32_t j = 0; j < m->n; j++) {
            if (!d->s->r.atoms.data[m->v[j]].uniform)
                continue;
            consider(d, p, (GrMono){.c = 1, .n = 1, .v = {m->v[j]}}, cuts, &n);
            if (size > 1 && m->n > 1) // a row of 16 * n where the facts say that its length is a multiple
                consider(d, p, (GrMono){.c = size, .n = 1, .v = {m->v[j]}}, cuts, &n);
        }
        if (m->n && size > 1)
            consider(d, p, (GrMono){.c = size}, cuts, &n);
    }
    qsort(cuts, n, sizeof *cuts, simpler);
    return n;
}

static bool cut_with(Digits *d, const Cut *c, const GrPoly *high, const GrPoly *low) {
    if (!proves_small(d->s, low, gr_poly_mono(&d->s->r.p, &c->by)))
        return false;
    push(&d->work, high);
    push(&d->work, low);
    return true;
}

static bool cut(Digits *d, const Cut *c) {
    GrPolys *p = &d->s->r.p;
    if (c->by.n && !positive(d, c->by.v[0]))
        return false;
    if (!c->low->n) { // a common factor
        push(&d->work, c->high);
        return true;
    }
    GrWide k = gr_poly_constant(c->low);
    if (c->by.n || !k)
        return cut_with(d, c, c->high, c->low);
    // The constant may belong to either digit in part.
    GrWide down = gr_wide_floor(k, c->by.c);
    for (GrWide step = down; step <= down + 1; step++)
        if (cut_with(d, c, gr_poly_plus(p, c->high, step), gr_poly_plus(p, c->low, -step * c->by.c)))
            return true;
    return false;
}

// False: p is never 0.
static bool take_apart(Digits *d, const GrPoly *p) {
    GrWide c, g;
    p = reduced(d, p);
    if (gr_poly_is_const(p, &c))
        return c == 0;
    g = gr_poly_gcd(p);
    if (gr_poly_constant(p) % g)
        return false;
    p = gr_poly_over(&d->s->r.p, p, g);
    GrRange range = gr_reading_range(&d->s->r, p);
    if (range.low > 0 || range.high < 0)
        return false;
    Cut cuts[MOST_CUTS];
    uint32_t n = find_cuts(d, p, cuts);
    for (uint32_t k = 0; k < n && d->rounds < MOST_EQUATIONS; k++)
        if (cut(d, &cuts[k]))
            return true;
    push(&d->finals, p);
    if (!solve_for_atom(d, p))
        return true;
    // The others say more now.
    uint32_t v = d->solved.data[d->solved.len - 1];
    size_t left = 0;
    for (size_t k = 0; k + 1 < d->finals.len; k++) {
        const GrPoly *f = d->finals.data[k];
        bool solved = false; // what was solved for an atom stays: it says what that atom is
        for (size_t j = 0; j + 1 < d->solved.len; j++)
            solved |= gr_poly_has(f, d->solved.data[j]);
        if (gr_poly_has(f, v) && !solved)
            push(&d->work, f);
        else
            d->finals.data[left++] = f;
    }
    d->finals.data[left++] = p;
    d->finals.len = left;
    return true;
}

// Two divisions with equal results by equal divisors: their dividends are equal. True: some were found.
static bool compare_dividends(Digits *d, bool *done) {
    GrReading *r = &d->s->r;
    bool found = false;
    for (uint32_t k = 0; k < d->n_known; k++)
        for (uint32_t j = 0; j < k && r->atoms.data[k].kind == GR_ATOM_QUOTIENT; j++) {
            const GrAtom *x = &r->atoms.data[k], *y = &r->atoms.data[j];
            if (y->kind != GR_ATOM_QUOTIENT || x->rounding != y->rounding || done[k * d->n_known + j])
                continue;
            const GrPoly *now[6] = {x->is ? x->is : gr_poly_atom(&r->p, k),
                                    y->is ? y->is : gr_poly_atom(&r->p, j),
                                    x[1].is ? x[1].is : gr_poly_atom(&r->p, k + 1),
                                    y[1].is ? y[1].is : gr_poly_atom(&r->p, j + 1),
                                    x->b,
                                    y->b};
            bool same = gr_reading_range(r, x->b).low >= 1;
            for (unsigned n = 0; n < 6 && same; n += 2)
                same = gr_poly_same(reduced(d, now[n]), reduced(d, now[n + 1]));
            if (!same)
                continue;
            done[k * d->n_known + j] = true;
            push(&d->work, gr_poly_sub(&r->p, x->a, y->a));
            found = true;
        }
    return found;
}

bool gr_ints_digits(GrInts *s, const GrPoly *p, GrPolyList *out) {
    Digits d = {.s = s, .n_known = s->r.atoms.len};
    d.positive = GR_ATTEMPT_NEW(s->a, bool, d.n_known);
    d.asked = GR_ATTEMPT_NEW(s->a, bool, d.n_known);
    bool *done = GR_ATTEMPT_NEW(s->a, bool, d.n_known *d.n_known);
    push(&d.work, p);
    do
        while (d.work.len) {
            const GrPoly *next = d.work.data[--d.work.len];
            d.rounds++;
            if (!take_apart(&d, next))
                return false;
        }
    while (d.rounds < MOST_EQUATIONS && compare_dividends(&d, done));
    *out = d.finals;
    return true;
}
