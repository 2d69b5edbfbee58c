// SPDX-License-Identifier: Apache-2.0
// integers — a query over the integers, from the digits of its overlap to a model of a readable size.
#include "engines/verifier/solve/ints.h"

#include "base/rng.h"
#include "engines/verifier/solve/child.h"

#include <stdlib.h>
#include <string.h>

// Symbols of the launch in a witness that people read.
static const int64_t readable[] = {8, 64};
enum { FIRST_MS = 300 };

typedef struct Model {
    GrInts *s;
    Z3_model z;
} Model;

static bool atom_value(const Model *m, uint32_t atom, GrWide *out) {
    GrRange range = m->s->r.ranges.data[atom];
    *out = range.low > 0 ? range.low : range.high < 0 ? range.high : 0;
    if (atom >= m->s->vars.len)
        return true;
    Z3_ast v;
    if (!Z3_model_eval(m->s->z, m->z, m->s->vars.data[atom], false, &v))
        return false;
    if (!Z3_is_numeral_ast(m->s->z, v)) // any value will do
        return true;
    const char *digits = Z3_get_numeral_string(m->s->z, v);
    bool below = *digits == '-';
    if (strlen(digits) > 37) // no machine's
        return false;
    *out = 0;
    for (digits += below; *digits; digits++)
        *out = *out * 10 + (*digits - '0');
    *out = below ? -*out : *out;
    return true;
}

static bool poly_value(const Model *m, const GrPoly *p, uint64_t *out) {
    uint64_t sum = 0; // the machine's values are cut to 64 bits all the same
    for (uint32_t k = 0; k < p->n; k++) {
        uint64_t product = (uint64_t)p->m[k].c;
        for (uint32_t j = 0; j < p->m[k].n; j++) {
            GrWide v;
            if (!atom_value(m, p->m[k].v[j], &v))
                return false;
            product *= (uint64_t)v;
        }
        sum += product;
    }
    *out = sum;
    return true;
}

static bool value_of(void *user, const GrTerm *read, const GrSymbol *sym, uint64_t *out) {
    Model *m = user;
    if (read)
        return poly_value(m, gr_read(&m->s->r, read), out);
    uint32_t atom = m->s->r.of_symbol[sym->id];
    if (!atom)
        return false;
    const GrPoly *is = m->s->r.atoms.data[atom - 1].is;
    return poly_value(m, is ? is : gr_poly_atom(&m->s->r.p, atom - 1), out);
}

// ---- The overlap -------------------------------------------------------------------------------------------------

static GrWide up(GrWide a, GrWide b) { return -gr_wide_floor(-a, b); }

// -a_size < a - b < b_size as an equation. False: it cannot hold.
static bool equation(GrInts *s, const GrOverlap *o, const GrPoly **out) {
    GrPolys *p = &s->r.p;
    const GrPoly *e = gr_read_distance(&s->r, o->a, o->b);
    GrWide c = gr_poly_constant(e), g = gr_poly_gcd(e);
    if (!g) {
        *out = gr_poly_const(p, 0);
        return c > -(GrWide)o->a_size && c < o->b_size;
    }
    // e = g * x + c: x is one of a few numbers, with equal sizes and alignments of one.
    GrRange x = {up(1 - (GrWide)o->a_size - c, g), gr_wide_floor((GrWide)o->b_size - 1 - c, g)};
    if (x.low > x.high)
        return false;
    const GrPoly *whole = gr_poly_over(p, gr_poly_plus(p, e, -c), g);
    if (x.low == x.high)
        *out = gr_poly_plus(p, whole, -x.low);
    else // another digit
        *out = gr_poly_sub(p, whole,
                           gr_poly_atom(p, gr_reading_atom(&s->r, (GrAtom){.kind = GR_ATOM_OPAQUE}, x)));
    return true;
}

// ---- All of it ---------------------------------------------------------------------------------------------------

static unsigned ms_of(const GrAttempt *a, double part) {
    double left = (a->deadline - gr_seconds_now()) * 1000 * part;
    return left < 1 ? 1 : (unsigned)left;
}

static void push(GrAsts *to, Z3_ast x) {
    if (!gr_vec_push(to, x))
        gr_attempt_nomem();
}

// Tries the equations with `more`, which limits what is tried: only a model is an answer.
static bool try_some(GrInts *s, const GrAsts *equations, const GrAsts *more, unsigned ms) {
    GrAsts all = {0};
    Model m = {.s = s};
    for (size_t k = 0; k < equations->len; k++)
        push(&all, equations->data[k]);
    for (size_t k = 0; k < more->len; k++)
        push(&all, more->data[k]);
    bool found =
        gr_ints_check(s, all.data, all.len, ms, &m.z) == Z3_L_TRUE && gr_attempt_model(s->a, value_of, &m);
    gr_vec_free(&all);
    return found;
}

// Tries with symbols of the launch of at most `cap`.
static bool try_small(GrInts *s, const GrAsts *equations, int64_t cap, unsigned ms) {
    GrAsts caps = {0};
    for (uint32_t k = 0; k < s->r.atoms.len; k++) {
        const GrAtom *x = &s->r.atoms.data[k];
        if (x->kind != GR_ATOM_SYMBOL || x->sym->scope != GR_SYM_LAUNCH || x->sym->low > cap)
            continue;
        const GrPoly *v = x->is ? x->is : gr_poly_atom(&s->r.p, k);
        push(&caps, gr_ints_relation(s, GR_RELATION_AT_MOST_0, gr_poly_plus(&s->r.p, v, -cap)));
    }
    bool found = try_some(s, equations, &caps, ms);
    gr_vec_free(&caps);
    return found;
}

// A product has the atom.
static bool in_product(const GrInts *s, uint32_t atom) {
    for (size_t k = 0; k < s->products.len; k++)
        if (gr_mono_has(&s->products.data[k], atom))
            return true;
    return false;
}

enum { GUESSES = 40 };

// A size for a symbol: equal for all in the first guesses, then blocks of a warp or two in one direction, then any.
static GrWide guessed(Rng *chance, unsigned guess, unsigned number) {
    static const int64_t same[] = {2, 4}, sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 32, 64};
    enum { SAME = sizeof same / sizeof *same, SIZES = sizeof sizes / sizeof *sizes, LONG = 4 };
    if (guess < SAME)
        return same[guess];
    if (guess < SAME + LONG)
        return number == guess - SAME ? 32 : 2;
    return sizes[gr_rng_below(chance, SIZES)];
}

// Gives launch symbols in products a value, so that the rest is linear. Most guesses contradict something at once; the
// others find a race that needs no special sizes in milliseconds. `first` goes on from call to call.
static bool try_guesses(GrInts *s, const GrAsts *equations, unsigned ms, unsigned *first, Rng *chance) {
    enum { GUESS_MS = 60 };
    double until = gr_seconds_now() + ms / 1000.0;
    GrAsts none = {0};
    bool found = false;
    for (; *first < GUESSES && !found && gr_seconds_now() < until; ++*first) {
        unsigned number = 0;
        for (uint32_t k = 0; k < s->r.atoms.len; k++) {
            const GrAtom *x = &s->r.atoms.data[k];
            if (x->is || !x->uniform || x->kind != GR_ATOM_SYMBOL || !in_product(s, k))
                continue;
            GrWide v = guessed(chance, *first, number++);
            GrRange range = s->r.ranges.data[k];
            v = v < range.low ? range.low : v > range.high ? range.high : v;
            push(&s->fixed, gr_ints_poly(s, gr_poly_atom(&s->r.p, k)));
            push(&s->fixed_to, gr_ints_poly(s, gr_poly_const(&s->r.p, v)));
        }
        if (!number)
            *first = GUESSES; // nothing to guess
        found = number && try_some(s, equations, &none, GUESS_MS);
        s->fixed.len = s->fixed_to.len = 0;
    }
    return found;
}

// Decides by integers about the query as it has been read.
static GrAnswer decide(GrInts *s, const char **how) {
    GrAttempt *a = s->a;
    GrPolyList digits = {0};
    GrAsts equations = {0};
    Model m = {.s = s};
    *how = "integers";
    s->lemmas_until = gr_seconds_now() + ms_of(a, 0.4) / 1000.0;
    gr_ints_learn(s);
    if (a->q->overlap) {
        const GrPoly *e;
        if (!equation(s, a->q->overlap, &e))
            return s->r.p.lost ? GR_ANSWER_UNKNOWN : GR_ANSWER_NO;
        gr_ints_define(s);
        if (!gr_ints_digits(s, e, &digits))
            return s->r.p.lost ? GR_ANSWER_UNKNOWN : GR_ANSWER_NO;
    }
    for (size_t k = 0; k < digits.len; k++)
        if (!gr_vec_push(&equations, gr_ints_relation(s, GR_RELATION_0, digits.data[k])))
            gr_attempt_nomem();
    // In turn, for longer each time: proofs and witnesses come soon or hardly ever, and nobody knows which it will be.
    Z3_lbool r = Z3_L_UNDEF;
    unsigned guess = 0;
    Rng chance = gr_rng(1); // the same on every run
    for (unsigned round = 0; round < 2; round++) {
        if (r == Z3_L_UNDEF)
            r = gr_ints_check(s, equations.data, equations.len, round ? ms_of(a, 0.5) : FIRST_MS, &m.z);
        if (s->r.p.lost)
            return GR_ANSWER_UNKNOWN;
        if (r == Z3_L_FALSE)
            return GR_ANSWER_NO;
        if (r == Z3_L_TRUE && a->q->any_model && gr_attempt_model(a, value_of, &m))
            return GR_ANSWER_YES;
        if (r == Z3_L_TRUE && a->q->any_model && !s->r.opaque)
            return GR_ANSWER_OPEN;
        *how = "small scope";
        if (try_guesses(s, &equations, FIRST_MS, &guess, &chance))
            return GR_ANSWER_YES;
        for (unsigned k = 0; k < sizeof readable / sizeof *readable; k++)
            if (try_small(s, &equations, readable[k], round ? ms_of(a, 0.2) : FIRST_MS))
                return GR_ANSWER_YES;
        *how = "integers";
        if (r == Z3_L_TRUE && gr_attempt_model(a, value_of, &m))
            return GR_ANSWER_YES;
        if (r == Z3_L_TRUE || s->r.opaque) // its numbers do not hold on a machine; bit strings know more
            break;
    }
    return GR_ANSWER_UNKNOWN;
}

GrAnswer gr_attempt_integers(GrAttempt *a, GrTrust trust, const char **how, const GrTerm **opaque) {
    static const double part = 0.4; // of the time, where bit strings may have to decide
    double deadline = a->deadline;
    GrInts *s = GR_ATTEMPT_NEW(a, GrInts, 1);
    gr_ints_init(s, a, trust);
    *opaque = s->r.opaque;
    if (s->r.cut || a->q->wrap)
        a->deadline = gr_seconds_now() + (deadline - gr_seconds_now()) * part;
    GrAnswer is = decide(s, how);
    a->deadline = deadline;
    a->trusted = s->r.trusted;
    a->cut = s->r.cut;
    return is;
}
