// SPDX-License-Identifier: Apache-2.0
// candidates — facts that programmers know and do not write down. Two sizes are one, a size is not 0, a row is as long
// as the grid is wide, there is one block, an index array differs from thread to thread.
#include "engines/verifier/decide/explain.h"

#include <stdlib.h>

enum { MOST_SYMBOLS = 8 };

typedef struct Gather {
    GrBound *b;
    size_t most;
    GrCandidates *out;
    const GrTerm *launch[MOST_SYMBOLS]; // symbols of the launch, 32 bits
    const GrTerm *data[MOST_SYMBOLS];   // values that the kernel loads, as thread 0 has them
    size_t n_launch, n_data;
    bool oom;
} Gather;

void gr_candidates_free(GrCandidates *c) {
    for (size_t k = 0; k < c->len; k++)
        gr_str_free(&c->data[k].text);
    gr_vec_free(c);
}

static void symbol(void *user, const GrSymbol *s) {
    Gather *g = user;
    if (s->scope != GR_SYM_LAUNCH || s->kind == GR_SYM_OBJECT || s->bits != 32 || g->n_launch == MOST_SYMBOLS)
        return;
    const GrTerm *t = gr_term_sym(g->b->t, s);
    for (size_t k = 0; k < g->n_launch; k++)
        if (g->launch[k] == t)
            return;
    g->oom |= !t;
    if (t)
        g->launch[g->n_launch++] = t;
}

static void find_data(Gather *g, const GrTerm *a, unsigned depth) {
    bool is_data = a->op == GR_TERM_READ ||
                   (a->op == GR_TERM_SYM && a->sym->kind == GR_SYM_FREE && a->sym->scope == GR_SYM_THREAD);
    for (size_t k = 0; is_data && k < g->n_data; k++)
        if (g->data[k] == a)
            return;
    if (is_data && g->n_data < MOST_SYMBOLS)
        g->data[g->n_data++] = a;
    for (unsigned k = 0; k < 3 && depth < 64 && !is_data && a->arg[k]; k++)
        find_data(g, a->arg[k], depth + 1);
}

static void offer(Gather *g, const GrTerm *first, const GrTerm *second, const GrTerm *left, const char *op,
                  const GrTerm *right, const char *text) {
    GrCandidate c = {.terms = {first, second}};
    if (g->out->len >= g->most || !first || first->op == GR_TERM_CONST) {
        g->oom |= !first;
        return;
    }
    if (left)
        gr_term_print(left, &c.text);
    gr_str_add(&c.text, op);
    if (right)
        gr_term_print(right, &c.text);
    gr_str_add(&c.text, text);
    if (c.text.oom || !gr_vec_push(g->out, c)) {
        gr_str_free(&c.text);
        g->oom = true;
    }
}

static void offer_sizes(Gather *g) {
    GrTerms *t = g->b->t;
    for (size_t k = 1; k < g->n_launch; k++)
        for (size_t i = 0; i < k; i++)
            offer(g, gr_term_2(t, GR_TERM_EQ, g->launch[i], g->launch[k]), NULL, g->launch[i],
                  " == ", g->launch[k], "");
    for (size_t k = 0; k < g->n_launch; k++)
        offer(g, gr_term_2(t, GR_TERM_SLT, gr_term_const(t, 32, 0), g->launch[k]), NULL, g->launch[k], " > 0",
              NULL, "");
}

// The threads of the grid in one direction, and what may be the length of a row.
static void offer_rows(Gather *g) {
    GrTerms *t = g->b->t;
    for (unsigned d = 0; d < 3; d++) {
        const GrTerm *wide = gr_term_2(t, GR_TERM_MUL, g->b->grid[d], g->b->block[d]);
        for (size_t k = 0; k < g->n_launch && !gr_term_is_const(wide, 1); k++)
            offer(g, gr_term_2(t, GR_TERM_SLE, wide, g->launch[k]), NULL, wide, " <= ", g->launch[k], "");
    }
}

static void offer_one_block(Gather *g) {
    GrTerms *t = g->b->t;
    const GrTerm *one = gr_term_const(t, 32, 1), *all = gr_term_true(t);
    for (unsigned d = 0; d < 3; d++)
        all = gr_and(t, all, gr_term_2(t, GR_TERM_EQ, g->b->grid[d], one));
    offer(g, all, NULL, NULL, "the grid has one block", NULL, "");
}

// Offers facts for two threads of one block, and of two blocks.
static void offer_data(Gather *g) {
    GrTerms *t = g->b->t;
    for (size_t k = 0; k < g->n_data; k++) {
        const GrTerm *differ[2];
        for (unsigned own = 0; own < 2; own++)
            differ[own] = gr_not(t, gr_term_2(t, GR_TERM_EQ, gr_term_of_thread(t, g->data[k], 1, own),
                                              gr_term_of_thread(t, g->data[k], 2, own)));
        offer(g, differ[0], differ[1], g->data[k], " differs from thread to thread", NULL, "");
    }
}

gr_status gr_candidates(GrBound *b, const GrBoundAccess *x, const GrBoundAccess *y, size_t most,
                        GrCandidates *out, gr_error *err) {
    Gather g = {.b = b, .most = most, .out = out};
    const GrBoundAccess *const sides[] = {x, y};
    for (unsigned k = 0; k < 2 && !g.oom; k++) {
        g.oom |=
            !gr_term_symbols(sides[k]->offset, symbol, &g) || !gr_term_symbols(sides[k]->guard, symbol, &g);
        find_data(&g, sides[k]->offset, 0);
    }
    for (unsigned d = 0; d < 3 && !g.oom; d++)
        g.oom |= !gr_term_symbols(b->grid[d], symbol, &g) || !gr_term_symbols(b->block[d], symbol, &g);
    if (!g.oom) {
        offer_data(&g);
        offer_sizes(&g);
        offer_one_block(&g);
        offer_rows(&g);
    }
    return g.oom ? gr_no_memory(err) : GR_OK;
}
