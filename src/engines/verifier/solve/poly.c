// SPDX-License-Identifier: Apache-2.0
// poly — sums of products.
#include "engines/verifier/solve/poly.h"

#include <stdlib.h>
#include <string.h>

// Coefficients stay so far below 2^127 that a sum of many does not overflow.
static const GrWide most = (GrWide)1 << 100;

static GrWide fit(GrPolys *p, GrWide c, bool over) {
    if (!over && c <= most && c >= -most)
        return c;
    p->lost = true;
    return 1;
}

static GrWide times(GrPolys *p, GrWide a, GrWide b) {
    GrWide c;
    bool over = __builtin_mul_overflow(a, b, &c);
    return fit(p, c, over);
}

static GrPoly *room(GrPolys *p, size_t n) {
    GrPoly *a = gr_arena_alloc(p->arena, sizeof *a + n * sizeof a->m[0]);
    if (!a)
        p->nomem();
    return a;
}

// Orders by degree, then by atoms.
static int order(const GrMono *a, const GrMono *b) {
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (uint32_t k = 0; k < a->n; k++)
        if (a->v[k] != b->v[k])
            return a->v[k] < b->v[k] ? -1 : 1;
    return 0;
}

const GrPoly *gr_poly_mono(GrPolys *p, const GrMono *m) {
    GrPoly *a = room(p, 1);
    if (m->c)
        a->m[a->n++] = *m;
    return a;
}

const GrPoly *gr_poly_const(GrPolys *p, GrWide c) {
    return gr_poly_mono(p, &(GrMono){.c = fit(p, c, false)});
}
const GrPoly *gr_poly_atom(GrPolys *p, uint32_t v) {
    return gr_poly_mono(p, &(GrMono){.c = 1, .n = 1, .v = {v}});
}

static void push(GrPolys *p, GrPoly *to, const GrMono *m, GrWide k) {
    GrWide c = times(p, m->c, k);
    if (!c)
        return;
    to->m[to->n] = *m;
    to->m[to->n++].c = c;
}

const GrPoly *gr_poly_sum(GrPolys *p, GrWide ka, const GrPoly *a, GrWide kb, const GrPoly *b) {
    GrPoly *s = room(p, a->n + b->n);
    uint32_t x = 0, y = 0;
    while (x < a->n || y < b->n) {
        int o = x == a->n ? 1 : y == b->n ? -1 : order(&a->m[x], &b->m[y]);
        if (o < 0) {
            push(p, s, &a->m[x++], ka);
        } else if (o > 0) {
            push(p, s, &b->m[y++], kb);
        } else {
            GrMono m = a->m[x];
            m.c = fit(p, times(p, a->m[x++].c, ka) + times(p, b->m[y++].c, kb), false);
            push(p, s, &m, 1);
        }
    }
    return s;
}

static GrMono product(GrPolys *p, const GrMono *a, const GrMono *b) {
    GrMono m = {.c = times(p, a->c, b->c)};
    if (a->n + b->n > GR_DEGREE) {
        p->lost = true;
        return m;
    }
    uint32_t x = 0, y = 0;
    while (x < a->n || y < b->n)
        m.v[m.n++] = y == b->n || (x < a->n && a->v[x] <= b->v[y]) ? a->v[x++] : b->v[y++];
    return m;
}

static int by_order(const void *a, const void *b) { return order(a, b); }

// Sorts what is there and puts equal products together.
static const GrPoly *gathered(GrPolys *p, GrPoly *a) {
    uint32_t n = 0;
    qsort(a->m, a->n, sizeof a->m[0], by_order);
    for (uint32_t k = 0; k < a->n; k++) {
        if (n && order(&a->m[n - 1], &a->m[k]) == 0)
            a->m[n - 1].c = fit(p, a->m[n - 1].c + a->m[k].c, false);
        else
            a->m[n++] = a->m[k];
        if (!a->m[n - 1].c)
            n--;
    }
    a->n = n;
    return a;
}

enum { MOST_PRODUCTS = 400 };

const GrPoly *gr_poly_mul(GrPolys *p, const GrPoly *a, const GrPoly *b) {
    if ((uint64_t)a->n * b->n > MOST_PRODUCTS) {
        p->lost = true;
        return a;
    }
    GrPoly *s = room(p, (size_t)a->n * b->n);
    for (uint32_t x = 0; x < a->n; x++)
        for (uint32_t y = 0; y < b->n; y++) {
            GrMono m = product(p, &a->m[x], &b->m[y]);
            if (m.c)
                s->m[s->n++] = m;
        }
    return gathered(p, s);
}

const GrPoly *gr_poly_over(GrPolys *p, const GrPoly *a, GrWide k) {
    GrPoly *s = room(p, a->n);
    memcpy(s, a, sizeof *a + a->n * sizeof a->m[0]);
    for (uint32_t x = 0; x < s->n; x++)
        s->m[x].c /= k;
    return s;
}

// m / d, if it divides.
static bool divided(const GrMono *m, const GrMono *d, GrMono *out) {
    uint32_t y = 0;
    if (m->c % d->c)
        return false;
    *out = (GrMono){.c = m->c / d->c};
    for (uint32_t x = 0; x < m->n; x++) {
        if (y < d->n && d->v[y] == m->v[x])
            y++;
        else
            out->v[out->n++] = m->v[x];
    }
    return y == d->n;
}

void gr_poly_split(GrPolys *p, const GrPoly *a, const GrMono *divisor, const GrPoly **quotient,
                   const GrPoly **rest) {
    GrPoly *q = room(p, a->n), *r = room(p, a->n);
    for (uint32_t k = 0; k < a->n; k++) {
        GrMono m;
        if (divided(&a->m[k], divisor, &m))
            q->m[q->n++] = m;
        else
            r->m[r->n++] = a->m[k];
    }
    *quotient = gathered(p, q);
    *rest = r;
}

const GrPoly *gr_poly_put(GrPolys *p, const GrPoly *a, uint32_t v, const GrPoly *by) {
    if (!gr_poly_has(a, v))
        return a;
    const GrPoly *s = gr_poly_const(p, 0);
    for (uint32_t k = 0; k < a->n; k++) {
        GrMono rest = {.c = a->m[k].c};
        uint32_t power = 0;
        for (uint32_t x = 0; x < a->m[k].n; x++) {
            if (a->m[k].v[x] == v)
                power++;
            else
                rest.v[rest.n++] = a->m[k].v[x];
        }
        const GrPoly *m = gr_poly_mono(p, &rest);
        for (; power; power--)
            m = gr_poly_mul(p, m, by);
        s = gr_poly_add(p, s, m);
    }
    return s;
}

// ---- Looking -------------------------------------------------------------------------------------------------------

bool gr_poly_same(const GrPoly *a, const GrPoly *b) {
    if (a == b)
        return true;
    if (a->n != b->n)
        return false;
    for (uint32_t k = 0; k < a->n; k++)
        if (a->m[k].c != b->m[k].c || order(&a->m[k], &b->m[k]))
            return false;
    return true;
}

bool gr_mono_has(const GrMono *m, uint32_t v) {
    for (uint32_t k = 0; k < m->n; k++)
        if (m->v[k] == v)
            return true;
    return false;
}

bool gr_poly_has(const GrPoly *a, uint32_t v) {
    for (uint32_t k = 0; k < a->n; k++)
        if (gr_mono_has(&a->m[k], v))
            return true;
    return false;
}

GrWide gr_poly_constant(const GrPoly *a) { return a->n && !a->m[0].n ? a->m[0].c : 0; }

bool gr_poly_is_const(const GrPoly *a, GrWide *c) {
    *c = gr_poly_constant(a);
    return !a->n || (a->n == 1 && !a->m[0].n);
}

static GrWide gcd(GrWide a, GrWide b) {
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        GrWide r = a % b;
        a = b;
        b = r;
    }
    return a;
}

GrWide gr_poly_gcd(const GrPoly *a) {
    GrWide g = 0;
    for (uint32_t k = 0; k < a->n; k++)
        if (a->m[k].n)
            g = gcd(g, a->m[k].c);
    return g;
}

GrWide gr_wide_floor(GrWide a, GrWide b) { return a / b - (a % b < 0); }

// ---- Ranges --------------------------------------------------------------------------------------------------------

static GrWide clamp(GrWide x) { return x > GR_ENDLESS ? GR_ENDLESS : x < -GR_ENDLESS ? -GR_ENDLESS : x; }

static GrWide product_of(GrWide a, GrWide b) {
    GrWide c;
    if (!a || !b)
        return 0;
    if (__builtin_mul_overflow(a, b, &c))
        return (a < 0) == (b < 0) ? GR_ENDLESS : -GR_ENDLESS;
    return clamp(c);
}

GrRange gr_term_range_add(GrRange a, GrRange b) {
    GrRange r = {clamp(a.low + b.low), clamp(a.high + b.high)};
    if (a.low <= -GR_ENDLESS || b.low <= -GR_ENDLESS)
        r.low = -GR_ENDLESS;
    if (a.high >= GR_ENDLESS || b.high >= GR_ENDLESS)
        r.high = GR_ENDLESS;
    return r;
}

GrRange gr_term_range_mul(GrRange a, GrRange b) {
    GrWide x[4] = {product_of(a.low, b.low), product_of(a.low, b.high), product_of(a.high, b.low),
                   product_of(a.high, b.high)};
    GrRange r = {x[0], x[0]};
    for (unsigned k = 1; k < 4; k++) {
        r.low = x[k] < r.low ? x[k] : r.low;
        r.high = x[k] > r.high ? x[k] : r.high;
    }
    return r;
}

GrRange gr_mono_range(const GrMono *m, const GrRange *of) {
    GrRange r = {1, 1};
    for (uint32_t k = 0; k < m->n; k++)
        r = gr_term_range_mul(r, of[m->v[k]]);
    return gr_term_range_mul(r, (GrRange){m->c, m->c});
}

GrRange gr_poly_range(const GrPoly *a, const GrRange *of) {
    GrRange r = {0, 0};
    for (uint32_t k = 0; k < a->n; k++)
        r = gr_term_range_add(r, gr_mono_range(&a->m[k], of));
    return r;
}
