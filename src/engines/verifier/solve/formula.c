// SPDX-License-Identifier: Apache-2.0
// formula — polynomials, conditions and definitions as formulas of Z3 over the integers.
#include "engines/verifier/solve/child.h"
#include "engines/verifier/solve/ints.h"

#include <string.h>

// ---- Polynomials -------------------------------------------------------------------------------------------------

static Z3_ast number(GrInts *s, GrWide c) {
    char text[48], *at = text + sizeof text;
    bool below = c < 0;
    unsigned __int128 v = below ? 0 - (unsigned __int128)c : (unsigned __int128)c;
    *--at = 0;
    do
        *--at = (char)('0' + (int)(v % 10));
    while (v /= 10);
    if (below)
        *--at = '-';
    return Z3_mk_numeral(s->z, at, Z3_mk_int_sort(s->z));
}

static Z3_ast var(GrInts *s, uint32_t atom) {
    while (s->vars.len <= atom) {
        char name[24];
        snprintf(name, sizeof name, "v%zu", s->vars.len);
        Z3_ast v = Z3_mk_const(s->z, Z3_mk_string_symbol(s->z, name), Z3_mk_int_sort(s->z));
        if (!gr_vec_push(&s->vars, v))
            gr_attempt_nomem();
    }
    return s->vars.data[atom];
}

static void note_product(GrInts *s, const GrMono *m) {
    GrMono own = *m;
    own.c = 1;
    for (size_t k = 0; k < s->products.len; k++)
        if (s->products.data[k].n == m->n && !memcmp(s->products.data[k].v, m->v, m->n * sizeof m->v[0]))
            return;
    if (!gr_vec_push(&s->products, own))
        gr_attempt_nomem();
}

static Z3_ast product(GrInts *s, const GrMono *m) {
    Z3_ast factors[GR_DEGREE + 1];
    unsigned n = 0;
    if (m->c != 1 || !m->n)
        factors[n++] = number(s, m->c);
    for (uint32_t k = 0; k < m->n; k++)
        factors[n++] = var(s, m->v[k]);
    if (m->n > 1)
        note_product(s, m);
    return n == 1 ? factors[0] : Z3_mk_mul(s->z, n, factors);
}

Z3_ast gr_ints_poly(GrInts *s, const GrPoly *p) {
    Z3_ast *sum = GR_ATTEMPT_NEW(s->a, Z3_ast, p->n);
    for (uint32_t k = 0; k < p->n; k++)
        sum[k] = product(s, &p->m[k]);
    return !p->n ? number(s, 0) : p->n == 1 ? sum[0] : Z3_mk_add(s->z, p->n, sum);
}

Z3_ast gr_ints_relation(GrInts *s, GrRelation what, const GrPoly *p) {
    GrRange range = gr_reading_range(&s->r, p);
    GrWide c;
    if (gr_poly_is_const(p, &c))
        range = (GrRange){c, c};
    if (range.low <= range.high) {
        if (what == GR_RELATION_NEGATIVE    ? range.high < 0
            : what == GR_RELATION_AT_MOST_0 ? range.high <= 0
                                            : false)
            return Z3_mk_true(s->z);
        if (what == GR_RELATION_NEGATIVE ? range.low >= 0 : range.low > 0)
            return Z3_mk_false(s->z);
        if (what == GR_RELATION_0 && range.high < 0)
            return Z3_mk_false(s->z);
        if (what == GR_RELATION_0 && range.low == 0 && range.high == 0)
            return Z3_mk_true(s->z);
    }
    Z3_ast zero = number(s, 0), x = gr_ints_poly(s, p);
    return what == GR_RELATION_0          ? Z3_mk_eq(s->z, x, zero)
           : what == GR_RELATION_NEGATIVE ? Z3_mk_lt(s->z, x, zero)
                                          : Z3_mk_le(s->z, x, zero);
}

// ---- Conditions --------------------------------------------------------------------------------------------------

static Z3_ast both(GrInts *s, Z3_ast a, Z3_ast b) { return Z3_mk_and(s->z, 2, (Z3_ast[]){a, b}); }
Z3_ast gr_ints_or(GrInts *s, Z3_ast a, Z3_ast b) { return Z3_mk_or(s->z, 2, (Z3_ast[]){a, b}); }

static Z3_ast new_bool(GrInts *s, const GrTerm *x) {
    GrRelation what;
    const GrPoly *p;
    switch (x->op) {
    case GR_TERM_NOT: return Z3_mk_not(s->z, gr_ints_bool(s, x->arg[0]));
    case GR_TERM_AND: return both(s, gr_ints_bool(s, x->arg[0]), gr_ints_bool(s, x->arg[1]));
    case GR_TERM_OR: return gr_ints_or(s, gr_ints_bool(s, x->arg[0]), gr_ints_bool(s, x->arg[1]));
    case GR_TERM_XOR: return Z3_mk_xor(s->z, gr_ints_bool(s, x->arg[0]), gr_ints_bool(s, x->arg[1]));
    case GR_TERM_ITE:
        return Z3_mk_ite(s->z, gr_ints_bool(s, x->arg[0]), gr_ints_bool(s, x->arg[1]),
                         gr_ints_bool(s, x->arg[2]));
    case GR_TERM_EQ:
        if (x->arg[0]->bits == 1)
            return Z3_mk_iff(s->z, gr_ints_bool(s, x->arg[0]), gr_ints_bool(s, x->arg[1]));
        break;
    default: break;
    }
    if (gr_read_comparison(&s->r, x, &what, &p))
        return gr_ints_relation(s, what, p);
    if (x->op >= GR_TERM_SLT && x->op <= GR_TERM_ULE) { // of single bits: with a sign 1 is -1
        const GrPoly *a = gr_read(&s->r, x->arg[0]), *b = gr_read(&s->r, x->arg[1]);
        bool is_signed = x->op == GR_TERM_SLT || x->op == GR_TERM_SLE;
        p = is_signed ? gr_poly_sub(&s->r.p, b, a) : gr_poly_sub(&s->r.p, a, b);
        bool strict = x->op == GR_TERM_SLT || x->op == GR_TERM_ULT;
        return gr_ints_relation(s, strict ? GR_RELATION_NEGATIVE : GR_RELATION_AT_MOST_0, p);
    }
    return gr_ints_relation(s, GR_RELATION_0, gr_poly_plus(&s->r.p, gr_read(&s->r, x), -1));
}

Z3_ast gr_ints_bool(GrInts *s, const GrTerm *x) {
    if (!s->bools[x->id])
        s->bools[x->id] = new_bool(s, x);
    return s->bools[x->id];
}

// ---- Definitions -------------------------------------------------------------------------------------------------

static void fact(GrInts *s, Z3_ast a) {
    if (!gr_vec_push(&s->facts, a))
        gr_attempt_nomem();
}

static const GrPoly *value(GrInts *s, uint32_t atom) {
    const GrPoly *is = s->r.atoms.data[atom].is;
    return is ? is : gr_poly_atom(&s->r.p, atom);
}

static Z3_ast at_most(GrInts *s, const GrPoly *a, const GrPoly *b) {
    const GrPoly *p = gr_poly_sub(&s->r.p, a, b);
    // Not gr_ints_relation: ranges are what is being asserted.
    return Z3_mk_le(s->z, gr_ints_poly(s, p), number(s, 0));
}

static void define_range(GrInts *s, uint32_t k) {
    GrRange range = s->r.ranges.data[k];
    const GrPoly *v = value(s, k);
    if (range.low > -GR_ENDLESS)
        fact(s, at_most(s, gr_poly_const(&s->r.p, range.low), v));
    if (range.high < GR_ENDLESS)
        fact(s, at_most(s, v, gr_poly_const(&s->r.p, range.high)));
}

static void define_division(GrInts *s, uint32_t k) {
    GrPolys *p = &s->r.p;
    GrAtom q = s->r.atoms.data[k];
    const GrPoly *quotient = value(s, k), *rest = value(s, k + 1), *zero = gr_poly_const(p, 0);
    const GrPoly *less = gr_poly_plus(p, q.b, -1);
    const GrPoly *error = gr_poly_sub(p, gr_poly_sub(p, q.a, gr_poly_mul(p, q.b, quotient)), rest);
    Z3_ast sum = Z3_mk_eq(s->z, gr_ints_poly(s, error), number(s, 0));
    Z3_ast up = both(s, at_most(s, zero, rest), at_most(s, rest, less));
    if (q.rounding == GR_ROUND_NEAREST)
        up = Z3_mk_true(s->z);         // its range says so
    if (q.rounding == GR_ROUND_TO_0) { // where a < 0: -b < rest <= 0
        Z3_ast down = both(s, at_most(s, gr_poly_scale(p, less, -1), rest), at_most(s, rest, zero));
        up = Z3_mk_ite(s->z, gr_ints_relation(s, GR_RELATION_NEGATIVE, q.a), down, up);
    }
    Z3_ast means = both(s, sum, up);
    Z3_ast no_divisor = gr_ints_relation(s, GR_RELATION_AT_MOST_0, q.b);
    fact(s, gr_reading_range(&s->r, q.b).low >= 1 ? means : gr_ints_or(s, no_divisor, means));
}

static void define(GrInts *s, uint32_t k) {
    GrAtom x = s->r.atoms.data[k];
    GrPolys *p = &s->r.p;
    define_range(s, k);
    switch (x.kind) {
    case GR_ATOM_QUOTIENT: define_division(s, k); break;
    case GR_ATOM_NEGATIVE:
    case GR_ATOM_BOOL: {
        Z3_ast holds =
            x.kind == GR_ATOM_BOOL ? gr_ints_bool(s, x.term) : gr_ints_relation(s, GR_RELATION_NEGATIVE, x.a);
        Z3_ast one = Z3_mk_eq(s->z, gr_ints_poly(s, value(s, k)), number(s, 1));
        fact(s, Z3_mk_iff(s->z, one, holds));
        break;
    }
    case GR_ATOM_CHOICE: {
        Z3_ast one =
            gr_ints_relation(s, GR_RELATION_0, gr_poly_sub(p, value(s, k), gr_read(&s->r, x.term->arg[1])));
        Z3_ast two =
            gr_ints_relation(s, GR_RELATION_0, gr_poly_sub(p, value(s, k), gr_read(&s->r, x.term->arg[2])));
        fact(s, Z3_mk_ite(s->z, gr_ints_bool(s, x.term->arg[0]), one, two));
        break;
    }
    default: break;
    }
}

// Asserts that equal offsets of an object have equal values.
static void define_reads(GrInts *s) {
    const GrAttempt *a = s->a;
    for (size_t k = 0; k < a->n_reads; k++)
        for (size_t j = 0; j < k; j++) {
            const GrTerm *x = a->reads[k], *y = a->reads[j];
            if (x->sym != y->sym || x->bits != y->bits)
                continue;
            GrPolys *p = &s->r.p;
            const GrPoly *apart = gr_poly_sub(p, gr_read(&s->r, x->arg[0]), gr_read(&s->r, y->arg[0]));
            const GrPoly *differ = gr_poly_sub(p, gr_read(&s->r, x), gr_read(&s->r, y));
            fact(s, Z3_mk_implies(s->z, gr_ints_relation(s, GR_RELATION_0, apart),
                                  gr_ints_relation(s, GR_RELATION_0, differ)));
        }
}

void gr_ints_define(GrInts *s) {
    while (s->defined < s->r.atoms.len)
        define(s, (uint32_t)s->defined++);
}

static void assert_query(GrInts *s) {
    s->facts.len = s->products.len = s->defined = 0;
    memset(s->bools, 0, s->a->t->n_terms * sizeof *s->bools);
    for (size_t k = 0; k < s->r.facts.len; k++)
        fact(s, gr_ints_bool(s, s->r.facts.data[k]));
    define_reads(s);
    gr_ints_define(s);
}

void gr_ints_init(GrInts *s, GrAttempt *a, GrTrust trust) {
    *s = (GrInts){.a = a, .z = a->z, .bools = GR_ATTEMPT_NEW(a, Z3_ast, a->t->n_terms)};
    gr_reading_init(&s->r, a, trust);
    if (a->q->overlap) { // for the atoms that it has
        gr_read(&s->r, a->q->overlap->a);
        gr_read(&s->r, a->q->overlap->b);
    }
    assert_query(s);
}

enum { LEMMA_MS = 300 };

bool gr_ints_proves(GrInts *s, Z3_ast otherwise) {
    if (gr_seconds_now() > s->lemmas_until)
        return false;
    return gr_ints_check(s, &otherwise, 1, LEMMA_MS, NULL) == Z3_L_FALSE;
}

void gr_ints_learn(GrInts *s) {
    bool learnt = false;
    for (uint32_t k = 0; k < s->r.atoms.len; k++) {
        GrAtom x = s->r.atoms.data[k];
        const GrPoly *zero = gr_poly_const(&s->r.p, 0);
        if (x.is ||
            (x.kind != GR_ATOM_NEGATIVE && (x.kind != GR_ATOM_QUOTIENT || x.rounding != GR_ROUND_NEAREST)))
            continue;
        Z3_ast not_0 = Z3_mk_not(s->z, gr_ints_relation(s, GR_RELATION_0, gr_poly_atom(&s->r.p, k)));
        if (!gr_ints_proves(s, not_0))
            continue;
        gr_reading_learn(&s->r, k, zero);
        if (x.kind == GR_ATOM_QUOTIENT && !s->r.atoms.data[k + 1].is)
            gr_reading_learn(&s->r, k + 1, s->r.atoms.data[k].a);
        learnt = true;
    }
    if (learnt)
        assert_query(s);
}

// ---- Hints and checks --------------------------------------------------------------------------------------------

// u in m = u * common, where the rest of m is what is left of `common`.
static bool factor(const GrMono *m, const GrMono *common, uint32_t *u) {
    uint32_t y = 0, left = 0;
    for (uint32_t x = 0; x < m->n; x++) {
        if (y < common->n && common->v[y] == m->v[x]) {
            y++;
        } else {
            *u = m->v[x];
            left++;
        }
    }
    return y == common->n && left == 1;
}

static GrMono without(const GrMono *m, uint32_t k) {
    GrMono rest = {.c = 1};
    for (uint32_t x = 0; x < m->n; x++)
        if (x != k)
            rest.v[rest.n++] = m->v[x];
    return rest;
}

static Z3_ast larger_is_larger(GrInts *s, uint32_t u, uint32_t w, const GrMono *mu, const GrMono *mw,
                               const GrMono *common) {
    GrPolys *p = &s->r.p;
    const GrPoly *step = gr_poly_mono(p, common);
    Z3_ast less = Z3_mk_lt(s->z, var(s, u), var(s, w));
    Z3_ast far = at_most(s, gr_poly_add(p, gr_poly_mono(p, mu), step), gr_poly_mono(p, mw));
    return Z3_mk_implies(s->z, less, far);
}

enum { MOST_HINTS = 300 };

// For u * c and w * c with c >= 0: u < w makes u * c + c <= w * c. And u >= 1 makes u * c >= c.
static void assert_hints(GrInts *s, Z3_solver z) {
    size_t n = s->products.len;
    unsigned hints = 0;
    for (size_t k = 0; k < n; k++)
        for (uint32_t f = 0; f < s->products.data[k].n; f++) {
            GrMono m = s->products.data[k], common = without(&m, f);
            uint32_t u = m.v[f], w = 0;
            if ((f && m.v[f - 1] == u) || gr_mono_range(&common, s->r.ranges.data).low < 0)
                continue;
            if (s->r.ranges.data[u].low >= 0 && hints++ < MOST_HINTS) {
                const GrPoly *c = gr_poly_mono(&s->r.p, &common), *zero = gr_poly_const(&s->r.p, 0);
                Z3_ast some = Z3_mk_ge(s->z, var(s, u), number(s, 1));
                Z3_solver_assert(s->z, z,
                                 Z3_mk_ite(s->z, some, at_most(s, c, gr_poly_mono(&s->r.p, &m)),
                                           Z3_mk_eq(s->z, gr_ints_poly(s, gr_poly_mono(&s->r.p, &m)),
                                                    gr_ints_poly(s, zero))));
            }
            for (size_t j = 0; j < n; j++) {
                GrMono other = s->products.data[j];
                if (j != k && factor(&other, &common, &w) && w != u && hints++ < MOST_HINTS)
                    Z3_solver_assert(s->z, z, larger_is_larger(s, u, w, &m, &other, &common));
            }
        }
}

static void assert_one(GrInts *s, Z3_solver z, Z3_ast x) {
    if (s->fixed.len)
        x = Z3_simplify(s->z,
                        Z3_substitute(s->z, x, (unsigned)s->fixed.len, s->fixed.data, s->fixed_to.data));
    Z3_solver_assert(s->z, z, x);
}

Z3_lbool gr_ints_check(GrInts *s, const Z3_ast *more, size_t n, unsigned ms, Z3_model *model) {
    gr_ints_define(s);
    Z3_solver z = Z3_mk_simple_solver(s->z); // the one for QF_NIA hangs on some linear queries (4.8.12)
    Z3_solver_inc_ref(s->z, z);
    for (size_t k = 0; k < s->facts.len; k++)
        assert_one(s, z, s->facts.data[k]);
    for (size_t k = 0; k < n; k++)
        assert_one(s, z, more[k]);
    for (size_t k = 0; k < s->fixed.len; k++) // for the model
        Z3_solver_assert(s->z, z, Z3_mk_eq(s->z, s->fixed.data[k], s->fixed_to.data[k]));
    if (!s->fixed.len)
        assert_hints(s, z);
    Z3_lbool r = s->r.p.lost ? Z3_L_UNDEF : gr_attempt_check(s->a, z, ms);
    if (r == Z3_L_TRUE && model) {
        *model = Z3_solver_get_model(s->z, z);
        Z3_model_inc_ref(s->z, *model);
    }
    Z3_solver_dec_ref(s->z, z);
    return r;
}
