// SPDX-License-Identifier: Apache-2.0
// queries — short names to build terms of two threads with, for the tests of the solver.
#ifndef GR_TEST_QUERIES_H
#define GR_TEST_QUERIES_H

#include "engines/verifier/solve/solve.h"

#include <stdlib.h>

typedef const GrTerm *T;

// One query under construction. Terms and solver stay from query to query.
typedef struct Q {
    GrTerms t;
    GrSolver *solver;
    T terms[96];
    size_t n;
    GrOverlap overlap;
    bool has_overlap, wrap, any_model;
    double seconds;
    T sizes[6];
    size_t n_sizes;
} Q;

static Q q;

static inline void begin(void) {
    gr_error err;
    if (!q.solver) {
        gr_terms_init(&q.t);
        if (gr_solver_create(&q.t, &q.solver, &err) != GR_OK) {
            fprintf(stderr, "%s\n", err.msg);
            abort();
        }
    }
    q.n = q.n_sizes = 0;
    q.has_overlap = q.wrap = q.any_model = false;
    q.seconds = 30; // most take milliseconds; a machine may be busy
}

static inline T num(int64_t v) { return gr_term_const(&q.t, 32, (uint64_t)v); }
static inline T op(GrTermOp o, T a, T b) {
    if (a && b && a->bits != b->bits) { // C's way: to the wider one, signed
        uint32_t bits = a->bits > b->bits ? a->bits : b->bits;
        a = gr_term_resize(&q.t, bits, true, a);
        b = gr_term_resize(&q.t, bits, true, b);
    }
    return gr_term_2(&q.t, o, a, b);
}
static inline T add(T a, T b) { return op(GR_TERM_ADD, a, b); }
static inline T sub(T a, T b) { return op(GR_TERM_SUB, a, b); }
static inline T mul(T a, T b) { return op(GR_TERM_MUL, a, b); }
static inline T quo(T a, T b) { return op(GR_TERM_SDIV, a, b); }
static inline T rem(T a, T b) { return op(GR_TERM_SREM, a, b); }
static inline T lt(T a, T b) { return op(GR_TERM_SLT, a, b); }
static inline T le(T a, T b) { return op(GR_TERM_SLE, a, b); }
static inline T eq(T a, T b) { return op(GR_TERM_EQ, a, b); }
static inline T not(T a) { return gr_term_1(&q.t, GR_TERM_NOT, 0, a); }
static inline T ne(T a, T b) { return not(eq(a, b)); }
static inline T both(T a, T b) { return op(GR_TERM_AND, a, b); }
static inline T any(T a, T b) { return op(GR_TERM_OR, a, b); }
static inline T wide(T a) { return gr_term_resize(&q.t, 64, true, a); }
static inline T up(T a, T b) { return quo(sub(add(a, b), num(1)), b); } // ceil(a / b)

static inline T sym(GrSymScope scope, uint32_t bits, const char *name, int64_t low, int64_t high) {
    GrSymbol *s = gr_symbol(&q.t, GR_SYM_HOST, scope, bits, name);
    s->low = low;
    s->high = high;
    return gr_term_sym(&q.t, s);
}
// Of all threads, one block's, one thread's.
static inline T all(const char *name, int64_t low, int64_t high) {
    return sym(GR_SYM_LAUNCH, 32, name, low, high);
}
static inline T blk(const char *name, int64_t low, int64_t high) {
    return sym(GR_SYM_BLOCK, 32, name, low, high);
}
static inline T thr(const char *name, int64_t low, int64_t high) {
    return sym(GR_SYM_THREAD, 32, name, low, high);
}

static inline void must(T a) { q.terms[q.n++] = a; }

// A fact of both threads.
static bool own_block;
static inline T of(T a, uint32_t thread) { return gr_term_of_thread(&q.t, a, thread, own_block); }
static inline void each(T a) {
    must(of(a, 1));
    must(of(a, 2));
}
// Accesses of thread 1 at index i and of thread 2 at index j, of elements of `size` bytes.
static inline void meet(T i, T j, uint32_t size) {
    q.overlap = (GrOverlap){mul(wide(of(i, 1)), gr_term_const(&q.t, 64, size)),
                            mul(wide(of(j, 2)), gr_term_const(&q.t, 64, size)), size, size};
    q.has_overlap = true;
}

static inline GrSolved solved(void) {
    GrQuery query = {.terms = q.terms,
                     .n_terms = q.n,
                     .overlap = q.has_overlap ? &q.overlap : NULL,
                     .seconds = q.seconds,
                     .wrap = q.wrap,
                     .sizes = q.sizes,
                     .n_sizes = q.n_sizes,
                     .any_model = q.any_model};
    GrSolved out;
    gr_error err;
    if (gr_solve(q.solver, &query, &out, &err) != GR_OK) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    return out;
}

// Whether the model makes every term true and the ranges meet: the test's own reading, by gr_term_value only.
static inline bool model_is_right(const GrSolved *s) {
    GrValues v = gr_solver_values(&s->model);
    uint64_t a, b;
    for (size_t k = 0; k < q.n; k++)
        if (!gr_term_value(q.terms[k], &v, &a) || !a)
            return false;
    if (!q.has_overlap)
        return true;
    if (!gr_term_value(q.overlap.a, &v, &a) || !gr_term_value(q.overlap.b, &v, &b))
        return false;
    for (uint64_t x = 0; x < q.overlap.a_size; x++)
        for (uint64_t y = 0; y < q.overlap.b_size; y++)
            if (a + x == b + y)
                return true;
    return false;
}

static inline void end(void) {
    gr_solver_free(q.solver);
    gr_terms_free(&q.t);
    q.solver = NULL;
}

#endif
