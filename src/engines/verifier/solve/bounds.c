// SPDX-License-Identifier: Apache-2.0
// bounds — what may leave its range under the launch's bounds: a first reading of a query, without solver or trust.
//
// A second one assumes that unknown numbers of the launch (sizes, pointers' lengths, how many blocks) are small. What
// leaves its range there too, such as a product with a hash's constant, has nothing to do with too large sizes.
#include "engines/verifier/solve/reading.h"

#include <string.h>

enum {
    LARGE_FROM = 1 << 10, // what may be that large is taken for small
    MOST_ROUNDS = 8,
    ROUNDS = 1 << 12, // of a loop of which nothing says how often it goes round
    MOST_SHAVED = 64, // cuts of which each quotient is tried
};

// ---- All terms ---------------------------------------------------------------------------------------------------

static void read_all(GrReading *r, bool *seen, const GrTerm *x) {
    GrRelation what;
    const GrPoly *p;
    if (seen[x->id])
        return;
    seen[x->id] = true;
    for (unsigned k = 0; k < 3 && x->arg[k]; k++)
        read_all(r, seen, x->arg[k]);
    if (x->bits > 1)
        gr_read(r, x);
    else
        gr_read_comparison(r, x, &what, &p);
}

// Notes what leaves its range as far as is known now.
static void look(GrReading *r) {
    const GrQuery *q = r->a->q;
    bool *seen = GR_ATTEMPT_NEW(r->a, bool, r->a->t->n_terms);
    gr_reading_forget(r);
    for (size_t k = 0; k < q->n_terms; k++)
        read_all(r, seen, q->terms[k]);
    if (!q->overlap)
        return;
    read_all(r, seen, q->overlap->a);
    read_all(r, seen, q->overlap->b);
    gr_read_distance(r, q->overlap->a, q->overlap->b);
}

// ---- Narrowing ---------------------------------------------------------------------------------------------------

// Narrows by a = b * quotient + remainder, for a divisor that is a number.
static bool narrow_by_divisions(GrReading *r) {
    bool better = false;
    for (uint32_t k = 0; k < r->atoms.len; k++) {
        const GrAtom q = r->atoms.data[k];
        GrWide b;
        if (q.kind != GR_ATOM_QUOTIENT || q.is || r->atoms.data[k + 1].is || !gr_poly_is_const(q.b, &b) ||
            b < 1)
            continue;
        const GrPoly *whole = gr_poly_scale(&r->p, gr_poly_atom(&r->p, k), b);
        const GrPoly *error = gr_poly_sub(&r->p, gr_poly_sub(&r->p, q.a, whole), gr_poly_atom(&r->p, k + 1));
        better |= gr_reading_narrow_by(r, error);
        better |= gr_reading_narrow_by(r, gr_poly_scale(&r->p, error, -1));
    }
    return better;
}

static bool is_empty(const GrReading *r) {
    for (size_t k = 0; k < r->ranges.len; k++)
        if (r->ranges.data[k].low > r->ranges.data[k].high)
            return true;
    return false;
}

static void narrow(GrReading *r, bool forgets) {
    for (unsigned k = 0; k < MOST_ROUNDS && !is_empty(r); k++) {
        bool better = gr_reading_narrow(r);
        better |= narrow_by_divisions(r);
        if (!better)
            break;
        if (forgets)
            gr_reading_forget(r);
    }
}

// The facts exclude that the atom has this value.
static bool excludes(GrReading *r, uint32_t atom, GrWide value) {
    size_t n = r->ranges.len;
    GrRange *before = GR_ATTEMPT_NEW(r->a, GrRange, n);
    memcpy(before, r->ranges.data, n * sizeof *before);
    r->ranges.data[atom] = (GrRange){value, value};
    narrow(r, false);
    bool empty = is_empty(r);
    memcpy(r->ranges.data, before, n * sizeof *before);
    for (size_t k = n; k < r->ranges.len; k++) // of atoms that were made since
        r->ranges.data[k] = (GrRange){-GR_ENDLESS, GR_ENDLESS};
    return empty;
}

// Shows of cuts that they are not needed: n + 255 of int leaves its range only if n is so large that the launch would
// have no blocks. True: something was learnt, so that all is to be read again.
static bool shave(GrReading *r) {
    unsigned shaved = 0;
    look(r); // nothing is read for the first time while a value is tried
    for (uint32_t k = 0; k < r->atoms.len && shaved < MOST_SHAVED; k++) {
        const GrAtom q = r->atoms.data[k];
        GrRange range = r->ranges.data[k];
        if (q.kind != GR_ATOM_QUOTIENT || q.rounding != GR_ROUND_NEAREST || q.is || range.low < -1 ||
            range.high > 1 || range.low > 0 || range.high < 0)
            continue;
        shaved++;
        if (range.low == -1 && excludes(r, k, -1))
            range.low = 0;
        if (range.high == 1 && excludes(r, k, 1))
            range.high = 0;
        if (range.low || range.high)
            continue;
        r->ranges.data[k] = range;
        const GrPoly *rest = r->atoms.data[k].a;
        gr_reading_learn(r, k, gr_poly_const(&r->p, 0));
        if (!r->atoms.data[k + 1].is)
            gr_reading_learn(r, k + 1, rest);
        return true;
    }
    return false;
}

// ---- Small numbers -----------------------------------------------------------------------------------------------

static void begin(GrReading *r, GrAttempt *a, const GrRange *known) {
    gr_reading_begin(r, a, GR_TRUST_NONE);
    r->left = GR_ATTEMPT_NEW(a, uint8_t, a->t->n_terms);
    r->known = known;
    look(r);
    narrow(r, true);
}

static bool any_left(const GrReading *r) {
    for (size_t k = 0; k < r->a->t->n_terms; k++)
        if (r->left[k])
            return true;
    return false;
}

// What is now known of symbols.
static GrRange *ranges_of_symbols(const GrReading *r) {
    const GrTerms *t = r->a->t;
    GrRange *all = GR_ATTEMPT_NEW(r->a, GrRange, t->n_symbols);
    for (uint32_t k = 0; k < t->n_symbols; k++)
        all[k] = r->of_symbol[k] ? r->ranges.data[r->of_symbol[k] - 1] : gr_reading_symbol(r, t->symbols[k]);
    return all;
}

static void cap(GrRange *range, GrWide small) {
    GrWide nearest = range->low > small ? range->low : range->high < -small ? range->high : 0;
    if (range->high >= LARGE_FROM)
        range->high = nearest > small ? nearest : small;
    if (range->low < -LARGE_FROM)
        range->low = nearest < -small ? nearest : -small;
}

// What leaves its range if symbols have these ranges; NULL: the facts exclude that. Data in memory stays what it is.
// `rounds`: no loop goes round very often.
static const uint8_t *left_of(GrAttempt *a, const GrRange *capped, bool rounds) {
    const GrTerms *t = a->t;
    GrReading r;
    begin(&r, a, capped);
    bool again = false;
    for (uint32_t k = 0; k < t->n_symbols && rounds; k++) {
        GrRange *range = r.of_symbol[k] ? &r.ranges.data[r.of_symbol[k] - 1] : NULL;
        if (!range || t->symbols[k]->kind != GR_SYM_COUNTER || range->high < t->symbols[k]->high)
            continue;
        cap(range, ROUNDS);
        again = true;
    }
    if (again)
        narrow(&r, true);
    look(&r);
    return is_empty(&r) ? NULL : r.left;
}

static bool is_number_of_launch(const GrSymbol *s) {
    return s->scope == GR_SYM_LAUNCH && s->kind != GR_SYM_FREE && s->kind != GR_SYM_OBJECT && s->bits > 1;
}

static GrRange *copy_of(GrAttempt *a, const GrRange *known) {
    GrRange *copy = GR_ATTEMPT_NEW(a, GrRange, a->t->n_symbols);
    memcpy(copy, known, a->t->n_symbols * sizeof *copy);
    return copy;
}

// Assumes small numbers of the launch if little says how large they are.
static const uint8_t *left_by_small(GrAttempt *a, const GrRange *known) {
    static const GrWide smalls[] = {16, 64, 256, 1024, 4096};
    const uint8_t *left = NULL;
    for (unsigned n = 0; n < sizeof smalls / sizeof *smalls && !left; n++) {
        GrRange *capped = copy_of(a, known);
        for (uint32_t k = 0; k < a->t->n_symbols; k++)
            if (is_number_of_launch(a->t->symbols[k]))
                cap(&capped[k], smalls[n]);
        left = left_of(a, capped, true);
    }
    return left;
}

static void see_size(void *user, const GrSymbol *s) { ((bool *)user)[s->id] = is_number_of_launch(s); }

// Takes a launch of 2^24 threads; the numbers that say how many there are have even shares.
static const uint8_t *left_by_threads(GrAttempt *a, const GrRange *known) {
    enum { THREADS = 24 };
    bool *is_size = GR_ATTEMPT_NEW(a, bool, a->t->n_symbols);
    GrRange *capped = copy_of(a, known);
    unsigned n = 0;
    for (size_t k = 0; k < a->q->n_sizes; k++)
        if (!gr_term_symbols(a->q->sizes[k], see_size, is_size))
            gr_attempt_nomem();
    for (uint32_t k = 0; k < a->t->n_symbols; k++)
        n += is_size[k];
    if (!n)
        return NULL;
    GrWide most = (GrWide)1 << (THREADS / n);
    for (uint32_t k = 0; k < a->t->n_symbols; k++)
        if (is_size[k] && capped[k].high > most && capped[k].low <= most)
            capped[k].high = most;
    return left_of(a, capped, true);
}

// An int does not overflow in C++, and no index of existing memory wraps because of that memory's size: so sizes are
// assumed not to be too large. A divided or shifted number may be a hash, which is meant to wrap; but not because a
// launch has billions of threads. What stays in its range only when it is read again, with nothing assumed to be small,
// has no size to blame.
static const uint8_t *find_large(GrAttempt *a, const GrRange *known, const uint8_t *left) {
    uint8_t *large = GR_ATTEMPT_NEW(a, uint8_t, a->t->n_terms);
    const uint8_t *small = left_by_small(a, known), *threads = left_by_threads(a, known),
                  *again = left_of(a, known, false);
    for (size_t k = 0; k < a->t->n_slots; k++) {
        const GrTerm *x = a->t->slots[k];
        if (!x || !left[x->id])
            continue;
        unsigned by_small = x->bits == 64 ? UINT8_MAX : GR_LOOK_SIGNED | GR_LOOK_UNSIGNED;
        unsigned by_size = again ? again[x->id] : 0;
        large[x->id] = (uint8_t)((by_small & (small ? small[x->id] : UINT8_MAX)) |
                                 (~by_small & (threads ? threads[x->id] : UINT8_MAX)) | ~by_size);
    }
    return large;
}

// Finds between which numbers symbols lie, and what leaves its range for small numbers of the launch, too.
static void find_bounds(GrAttempt *a, const GrRange **known, const uint8_t **large) {
    GrReading r;
    begin(&r, a, NULL);
    while (!is_empty(&r) && shave(&r))
        narrow(&r, true);
    if (is_empty(&r)) // the facts contradict each other, which the reading itself is to show
        return;
    look(&r);
    *known = ranges_of_symbols(&r);
    if (any_left(&r))
        *large = a->q->wrap ? NULL : find_large(a, *known, r.left);
}

void gr_reading_init(GrReading *r, GrAttempt *a, GrTrust trust) {
    const GrRange *known = NULL;
    const uint8_t *large = NULL;
    if (trust != GR_TRUST_ALL)
        find_bounds(a, &known, &large);
    gr_reading_begin(r, a, trust);
    r->known = known;
    r->large = large;
    gr_reading_narrow_and_substitute(r);
}
