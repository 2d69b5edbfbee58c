// SPDX-License-Identifier: Apache-2.0
// matrix_ref — see the header.
#include "matrix_ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const Type types[] = {
    {"f16", 16, 5, 10, true, "b32"}, {"bf16", 16, 8, 7, true, "b32"},  {"tf32", 32, 8, 23, true, "b32"},
    {"f32", 32, 8, 23, true, "f32"}, {"f64", 64, 11, 52, true, "f64"}, {"e4m3", 8, 4, 3, true, "b32"},
    {"e5m2", 8, 5, 2, true, "b32"},  {"s8", 8, 0, 0, true, "b32"},     {"u8", 8, 0, 0, false, "b32"},
    {"s4", 4, 0, 0, true, "b32"},    {"u4", 4, 0, 0, false, "b32"},    {"b1", 1, 0, 0, false, "b32"},
    {"s32", 32, 0, 0, true, "b32"},
};

const Type *ref_type(const char *name) {
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (!strcmp(types[k].name, name))
            return &types[k];
    fail_msg("no type %s", name);
    return NULL;
}

// The value must be representable.
uint64_t ref_encode(const Type *t, double v) {
    if (!t->exponent)
        return (uint64_t)(int64_t)v & (t->bits == 64 ? UINT64_MAX : (UINT64_C(1) << t->bits) - 1);
    int e;
    double f = frexp(fabs(v), &e); // [0.5, 1)
    uint64_t sign = (uint64_t)(signbit(v) != 0) << (t->bits - 1);
    if (v == 0)
        return sign;
    uint64_t biased = (uint64_t)(e - 1 + (1 << (t->exponent - 1)) - 1);
    return sign | biased << t->fraction |
           ((uint64_t)ldexp(f, (int)t->fraction + 1) & ((UINT64_C(1) << t->fraction) - 1));
}

void ref_put(const Type *t, void *p, size_t at, double v) {
    uint64_t bits = ref_encode(t, v), mask = t->bits == 64 ? UINT64_MAX : (UINT64_C(1) << t->bits) - 1;
    uint64_t *word = (uint64_t *)p + at * t->bits / 64;
    unsigned shift = at * t->bits % 64;
    *word = (*word & ~(mask << shift)) | bits << shift;
}

static uint32_t state;
static unsigned next(unsigned n) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

// Small, so that all sums are exact; b1: 0 or 1.
static double any(const Type *t) {
    if (t->bits == 1)
        return next(2);
    if (!t->exponent)
        return (double)next(1u << t->bits) - (t->is_signed ? 1 << (t->bits - 1) : 0);
    return ((int)next(9) - 4) * (next(2) ? 0.5 : 1.0);
}

void ref_choose(Product *p) {
    for (unsigned x = 0; x < p->m * p->k; x++)
        p->va[x] = any(p->a);
    for (unsigned x = 0; x < p->k * p->n; x++)
        p->vb[x] = any(p->b);
    for (unsigned r = 0; r < p->m; r++)
        for (unsigned c = 0; c < p->n; c++) {
            double sum = p->vc[r * p->n + c] = p->c->exponent ? any(p->c) : (double)(int)next(1000) - 500;
            for (unsigned x = 0; x < p->k; x++) {
                double u = p->va[r * p->k + x], v = p->vb[x * p->n + c];
                sum += p->or_bits ? u != v : u * v;
            }
            p->vd[r * p->n + c] = sum;
        }
}

void ref_shape(Product *p, const char *text) {
    assert_int_equal(sscanf(text, "m%un%uk%u", &p->m, &p->n, &p->k), 3);
}

void ref_fragment(StrBuf *s, const char *prefix, unsigned n) {
    gr_str_add(s, "{");
    for (unsigned k = 0; k < n; k++)
        gr_str_addf(s, "%s%%%s%u", k ? ", " : "", prefix, k);
    gr_str_add(s, "}");
}
