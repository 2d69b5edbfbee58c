// SPDX-License-Identifier: Apache-2.0
// order — barrier intervals. Two accesses can be unordered only if one instance of a barrier can be the last one that both threads passed. An
// instance is a barrier and, for each loop around it, which round.
//
// This takes all threads to come to a barrier, or none. Where the barrier's guard says otherwise, the barrier counts only for two
// threads that both come to it.
#include "engines/verifier/decide/order.h"

#include "engines/verifier/decide/pair.h"

#include <stdlib.h>

static const GrTerm *counter(GrBound *b, const GrLoop *l, uint32_t thread) {
    return gr_term_of_thread(b->t, gr_term_sym(b->t, l->counter), thread, false);
}

static const GrTerm *one_more(GrBound *b, const GrTerm *a) {
    return a ? gr_term_2(b->t, GR_TERM_ADD, a, gr_term_const(b->t, a->bits, 1)) : NULL;
}

// What a thread that has left a loop, which runs once, knows of its last round.
static const GrTerm *when_left(GrBound *b, const GrKernelAccess *a, const GrLoop *l, uint32_t thread) {
    if (!l->left || l->parent || gr_loop_is_within(a->loop, l))
        return gr_term_true(b->t);
    const GrTerm *left = gr_bound_term(b, l->left);
    return left ? gr_term_of_thread(b->t, left, thread, false) : NULL;
}

// Loops that a thread has entered since the barrier and not gone round.
static const GrTerm *still(GrBound *b, const GrKernelAccess *a, const GrAfter *x, uint32_t thread) {
    const GrTerm *all = gr_term_true(b->t);
    for (size_t k = 0; k < b->model->loops.len; k++) {
        const GrLoop *l = b->model->loops.data[k];
        if (l->id < 64 && x->still >> l->id & 1) {
            const GrTerm *at = counter(b, l, thread);
            all = gr_and(b->t, all,
                         at ? gr_term_2(b->t, GR_TERM_EQ, at, gr_term_const(b->t, at->bits, 0)) : NULL);
            all = gr_and(b->t, all, when_left(b, a, l, thread));
        }
    }
    return all;
}

// How often the thread has gone round the barrier's loop since can be told, and the loop is the one in which it passed the barrier.
static bool is_told(const GrAfter *x) {
    bool own = x->rounds == GR_ROUNDS_SAME || x->rounds == GR_ROUNDS_NEXT ||
               (x->rounds == GR_ROUNDS_LEFT && !x->barrier->loop->parent); // it runs once
    return own && !(x->taken & 4);
}

// Both threads passed the barrier in the same round of its loop: what each has gone round since, taken off, is the same.
static const GrTerm *same_round(GrBound *b, const GrAfter *x, const GrAfter *y) {
    const GrTerm *any = gr_term_false(b->t);
    const GrLoop *l = x->barrier->loop;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 2; j++) {
            const GrTerm *mine = counter(b, l, 1), *other = counter(b, l, 2);
            if (!(x->taken >> i & 1) || !(y->taken >> j & 1))
                continue;
            if (i < j)
                mine = one_more(b, mine);
            if (j < i)
                other = one_more(b, other);
            any = gr_or(b->t, any, gr_term_2(b->t, GR_TERM_EQ, mine, other));
        }
    return any;
}

// Both threads passed the barrier in the same round of every loop around it. What is not known of a side leaves the rounds open.
static const GrTerm *same_instance(GrBound *b, const GrKernelAccess *first, const GrAfter *x,
                                   const GrKernelAccess *second, const GrAfter *y) {
    const GrTerm *all = gr_and(b->t, still(b, first, x, 1), still(b, second, y, 2));
    const GrLoop *l = x->barrier->loop;
    if (!l || !is_told(x) || !is_told(y))
        return all;
    all = gr_and(b->t, all, same_round(b, x, y));
    all = gr_and(b->t, all, gr_and(b->t, when_left(b, first, l, 1), when_left(b, second, l, 2)));
    for (l = l->parent; l; l = l->parent)
        all = gr_and(b->t, all, gr_term_2(b->t, GR_TERM_EQ, counter(b, l, 1), counter(b, l, 2)));
    return all;
}

// ---- Barriers that not all may reach -----------------------------------------------------------------------------------

typedef struct Varies {
    const GrBarrier *of;
    bool by_thread, by_value;
} Varies;

// Whether the counter is the same for all threads that come to the barrier: of a loop around it in the round in which they meet, or of one that
// all have left. The latter counts only if the loops around that one, too, go round equally often for all.
static bool is_alike(const GrBarrier *r, const GrSymbol *counter) {
    const GrLoop *l = counter->kind == GR_SYM_COUNTER ? counter->owner : NULL;
    if (!l || gr_loop_is_within(r->loop, l))
        return l && l->uniform;
    while (l && (l->uniform || gr_loop_is_within(r->loop, l)))
        l = l->parent;
    return !l;
}

typedef struct Sought {
    const GrSymbol *symbol;
    bool found;
} Sought;

static void compare(void *user, const GrSymbol *s) {
    Sought *x = user;
    x->found |= x->symbol == s;
}

// What a loop reads to know whether it goes on, where all threads meet in each round: then it goes on for all of them, or for none.
static bool decides_rounds(const GrBarrier *r, const GrSymbol *s) {
    Sought x = {.symbol = s};
    for (const GrLoop *l = r->each_round ? r->loop : NULL; l; l = l->parent)
        if (l->uniform && l->left && !gr_term_symbols(l->left, compare, &x))
            return false;
    return x.found;
}

static void look(void *user, const GrSymbol *s) {
    Varies *v = user;
    if (s->scope != GR_SYM_THREAD || is_alike(v->of, s))
        return;
    if (s->kind != GR_SYM_FREE)
        v->by_thread = true;
    else if (!decides_rounds(v->of, s))
        v->by_value = true;
}

// Two threads of the block (the warp) of which one comes to the barrier and the other does not, in one round?
static gr_status ask(GrBound *b, GrBoundBarrier *r, bool in_warp, gr_error *err) {
    const GrTerm *round = gr_term_true(b->t);
    for (const GrLoop *l = r->b->loop; l; l = l->parent)
        round = gr_and(b->t, round, gr_term_2(b->t, GR_TERM_EQ, counter(b, l, 1), counter(b, l, 2)));
    const GrTerm *terms[] = {round, gr_term_of_thread(b->t, r->guard, 1, false),
                             gr_not(b->t, gr_term_of_thread(b->t, r->guard, 2, false))};
    return gr_pair_never(b, in_warp ? GR_LEVEL_WARP : GR_LEVEL_ANY_WARP, terms, 3, NULL, &r->solid, err);
}

static gr_status learn(GrBound *b, GrBoundBarrier *r, gr_error *err) {
    Varies v = {.of = r->b};
    if (r->asked)
        return GR_OK;
    r->asked = true;
    if (!gr_term_symbols(r->guard, look, &v))
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    r->solid = !v.by_thread && !v.by_value;
    return r->solid ? GR_OK : ask(b, r, r->b->kind == GR_BARRIER_WARP, err);
}

// ---- Both ----------------------------------------------------------------------------------------------------------------

static bool is_whole_warp(const GrBarrier *r) {
    return r->mask && r->mask->op == GR_TERM_CONST && (uint32_t)r->mask->value == UINT32_MAX;
}

// What lets two threads pass a barrier without order: one of them does not come to it, or is not in its mask.
static const GrTerm *not_both(GrBound *b, const GrBoundBarrier *r, const char **doubt) {
    if (r->b->kind == GR_BARRIER_WARP && !is_whole_warp(r->b)) {
        *doubt = "a warp barrier may not be for both lanes";
        return gr_term_true(b->t);
    }
    if (r->solid)
        return gr_term_false(b->t);
    *doubt = "a barrier may be reached by some of its threads only";
    if (r->b->loop)
        return gr_term_true(b->t);
    return gr_or(b->t, gr_not(b->t, gr_term_of_thread(b->t, r->guard, 1, false)),
                 gr_not(b->t, gr_term_of_thread(b->t, r->guard, 2, false)));
}

const GrTerm *gr_order_unordered(GrBound *b, const GrBoundAccess *first, const GrBoundAccess *second,
                                 bool in_warp, const char **doubt, gr_error *err) {
    const GrTerm *any = gr_term_false(b->t);
    *doubt = NULL;
    const GrKernelAccess *x = first->a, *y = second->a;
    size_t nx = in_warp ? x->after_warp.len : x->after.len, ny = in_warp ? y->after_warp.len : y->after.len;
    const GrAfter *xs = in_warp ? x->after_warp.data : x->after.data,
                  *ys = in_warp ? y->after_warp.data : y->after.data;
    for (size_t i = 0; i < nx; i++)
        for (size_t j = 0; j < ny; j++)
            if (xs[i].barrier == ys[j].barrier)
                any = gr_or(b->t, any, same_instance(b, x, &xs[i], y, &ys[j]));
    for (size_t k = 0; k < b->barriers.len && any && !gr_term_is_const(any, 1); k++) {
        GrBoundBarrier *r = &b->barriers.data[k];
        bool counts = r->b->kind == GR_BARRIER_BLOCK || r->b->kind == GR_BARRIER_GRID ||
                      (in_warp && r->b->kind == GR_BARRIER_WARP);
        if (!counts)
            continue;
        if (learn(b, r, err) != GR_OK)
            return NULL;
        const GrTerm *loose = not_both(b, r, doubt);
        any = gr_or(b->t, any, loose);
    }
    if (!any)
        gr_fail(err, GR_ERR_NOMEM, "out of memory");
    return any;
}

gr_status gr_order_all_meet(GrBound *b, bool *all, gr_error *err) {
    gr_status st = GR_OK;
    *all = true;
    for (size_t k = 0; k < b->barriers.len && st == GR_OK && *all; k++) {
        GrBoundBarrier *r = &b->barriers.data[k];
        if (r->b->kind == GR_BARRIER_BLOCK)
            st = learn(b, r, err);
        // One of some threads may have the number of one of all.
        *all = r->b->kind != GR_BARRIER_SOME && (r->solid || r->b->kind != GR_BARRIER_BLOCK);
    }
    return st;
}
