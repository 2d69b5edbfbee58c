// SPDX-License-Identifier: Apache-2.0
// order — barrier intervals. Two accesses can be unordered only if one instance of a barrier can be the last one that both threads passed. An
// instance is a barrier and, for each loop around it, which round.
//
// This takes all threads to come to a barrier, or none. Where the barrier's guard says otherwise, the barrier counts only for two
// threads that both come to it; and one of the grid orders no blocks, since only the first thread of a block waits for the other blocks.
#include "engines/verifier/decide/order.h"

#include <stdlib.h>

static const GrTerm *counter(GrBound *b, const GrLoop *l, uint32_t thread) {
    return gr_term_of_thread(b->t, gr_term_sym(b->t, l->counter), thread, false);
}

static GrReach reach_of(GrLevel level) {
    return level == GR_LEVEL_BLOCKS ? GR_REACH_GRID : level == GR_LEVEL_WARP ? GR_REACH_WARP : GR_REACH_BLOCK;
}

static const GrTerm *one_more(GrBound *b, const GrTerm *a) {
    return a ? gr_term_2(b->t, GR_TERM_ADD, a, gr_term_const(b->t, a->bits, 1)) : NULL;
}

// What a thread that has left a loop, which runs once, knows of its last round.
static const GrTerm *when_left(GrBound *b, const GrKernelAccess *a, const GrLoop *l, uint32_t thread,
                               bool own) {
    if (!l->left || l->parent || gr_loop_is_within(a->loop, l))
        return gr_term_true(b->t);
    const GrTerm *left = gr_bound_term(b, l->left);
    return left ? gr_term_of_thread(b->t, left, thread, own) : NULL;
}

// Loops that a thread has entered since the barrier and not gone round.
static const GrTerm *still(GrBound *b, const GrKernelAccess *a, const GrAfter *x, uint32_t thread, bool own) {
    const GrTerm *all = gr_term_true(b->t);
    for (size_t k = 0; k < b->model->loops.len; k++) {
        const GrLoop *l = b->model->loops.data[k];
        if (l->id < 64 && x->still >> l->id & 1) {
            const GrTerm *at = counter(b, l, thread);
            all = gr_and(b->t, all,
                         at ? gr_term_2(b->t, GR_TERM_EQ, at, gr_term_const(b->t, at->bits, 0)) : NULL);
            all = gr_and(b->t, all, when_left(b, a, l, thread, own));
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
                                   const GrKernelAccess *second, const GrAfter *y, bool own) {
    const GrTerm *all = gr_and(b->t, still(b, first, x, 1, own), still(b, second, y, 2, own));
    const GrLoop *l = x->barrier->loop;
    if (!l || !is_told(x) || !is_told(y))
        return all;
    all = gr_and(b->t, all, same_round(b, x, y));
    all = gr_and(b->t, all, gr_and(b->t, when_left(b, first, l, 1, own), when_left(b, second, l, 2, own)));
    for (l = l->parent; l; l = l->parent)
        all = gr_and(b->t, all, gr_term_2(b->t, GR_TERM_EQ, counter(b, l, 1), counter(b, l, 2)));
    return all;
}

// ---- Barriers that not all may reach -----------------------------------------------------------------------------------

typedef struct Varies {
    const GrBarrier *of;
    GrReach reach;
    bool by_thread, by_value;
} Varies;

// Whether the counter is the same for all threads that come to the barrier: of a loop around it in the round in which they meet, or of one that
// all have left. The latter counts only if the loops around that one, too, go round equally often for all.
static bool is_alike(const GrBarrier *r, const GrSymbol *counter, GrReach reach) {
    const GrLoop *l = counter->kind == GR_SYM_COUNTER ? counter->owner : NULL;
    if (!l || gr_loop_is_within(r->loop, l))
        return l && l->uniform[reach];
    while (l && (l->uniform[reach] || gr_loop_is_within(r->loop, l)))
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
static bool decides_rounds(const GrBarrier *r, const GrSymbol *s, GrReach reach) {
    Sought x = {.symbol = s};
    for (const GrLoop *l = r->each_round ? r->loop : NULL; l; l = l->parent)
        if (l->uniform[reach] && l->left && !gr_term_symbols(l->left, compare, &x))
            return false;
    return x.found;
}

static void look(void *user, const GrSymbol *s) {
    Varies *v = user;
    if (gr_symbol_is_shared(s, v->reach == GR_REACH_GRID) || is_alike(v->of, s, v->reach))
        return;
    if (s->kind != GR_SYM_FREE)
        v->by_thread = true;
    else if (!decides_rounds(v->of, s, v->reach))
        v->by_value = true;
}

typedef struct Open {
    const GrLoop *loop;
    bool found;
} Open;

static void see_open(void *user, const GrSymbol *s) {
    Open *o = user;
    bool inner = s->kind == GR_SYM_COUNTER && s->owner != o->loop && gr_loop_is_within(s->owner, o->loop);
    o->found |= s->kind == GR_SYM_FREE || inner;
}

// Whether the guard of what is in the loop can say which rounds there are: not where they hang on data.
static bool has_told_rounds(const GrLoop *l) {
    Open o = {l, false};
    return l->left && gr_term_symbols(l->left, see_open, &o) && !o.found;
}

// Two such threads of which one comes to the barrier and the other does not, in one round?
static gr_status ask(GrBound *b, GrBoundBarrier *r, GrLevel level, bool *solid, gr_error *err) {
    bool own = level == GR_LEVEL_BLOCKS;
    const GrTerm *round = gr_term_true(b->t);
    for (const GrLoop *l = r->b->loop; l; l = l->parent)
        round = gr_and(b->t, round, gr_term_2(b->t, GR_TERM_EQ, counter(b, l, 1), counter(b, l, 2)));
    const GrTerm *terms[] = {round, gr_term_of_thread(b->t, r->guard, 1, own),
                             gr_not(b->t, gr_term_of_thread(b->t, r->guard, 2, own))};
    return gr_pair_never(b, level, terms, 3, NULL, solid, err);
}

static gr_status see(GrBound *b, GrBoundBarrier *r, GrLevel level, bool *solid, gr_error *err) {
    Varies v = {.of = r->b, .reach = reach_of(level)};
    if (!gr_term_symbols(r->guard, look, &v))
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    *solid = !v.by_thread && !v.by_value;
    return *solid ? GR_OK : ask(b, r, level, solid, err);
}

static gr_status learn(GrBound *b, GrBoundBarrier *r, gr_error *err) {
    if (r->in_block.asked)
        return GR_OK;
    r->in_block.asked = true;
    GrLevel level = r->b->kind == GR_BARRIER_WARP ? GR_LEVEL_WARP : GR_LEVEL_ANY_WARP;
    for (const GrLoop *l = r->b->loop; l && level == GR_LEVEL_ANY_WARP; l = l->parent)
        if (!l->uniform[GR_REACH_BLOCK] && !has_told_rounds(l))
            return GR_OK;
    return see(b, r, level, &r->in_block.solid, err);
}

// Of a barrier of the grid. The blocks count their barriers: so the loops around have to go round equally often, too.
static gr_status learn_of_grid(GrBound *b, GrBoundBarrier *r, gr_error *err) {
    if (r->in_grid.asked)
        return GR_OK;
    r->in_grid.asked = true;
    for (const GrLoop *l = r->b->loop; l; l = l->parent)
        if (!l->uniform[GR_REACH_GRID])
            return GR_OK;
    return see(b, r, GR_LEVEL_BLOCKS, &r->in_grid.solid, err);
}

// ---- Both ----------------------------------------------------------------------------------------------------------------

static const char some_only[] = "a barrier may be reached by some of its threads only";

static bool is_whole_warp(const GrBarrier *r) {
    return r->mask && r->mask->op == GR_TERM_CONST && (uint32_t)r->mask->value == UINT32_MAX;
}

// What lets two threads of a block pass a barrier without order: one of them does not come to it, or is not in its mask.
static const GrTerm *not_both(GrBound *b, const GrBoundBarrier *r, const char **doubt) {
    if (r->b->kind == GR_BARRIER_WARP && !is_whole_warp(r->b)) {
        *doubt = "a warp barrier may not be for both lanes";
        return gr_term_true(b->t);
    }
    if (r->in_block.solid)
        return gr_term_false(b->t);
    *doubt = some_only;
    if (r->b->loop)
        return gr_term_true(b->t);
    return gr_or(b->t, gr_not(b->t, gr_term_of_thread(b->t, r->guard, 1, false)),
                 gr_not(b->t, gr_term_of_thread(b->t, r->guard, 2, false)));
}

// Whether the barriers of the grid order nothing. Those of a block count too: they may be taken for the first half of one of the grid.
static gr_status is_loose(GrBound *b, bool *loose, gr_error *err) {
    bool meet = true;
    gr_status st = gr_order_all_meet(b, &meet, err);
    for (size_t k = 0; k < b->barriers.len && st == GR_OK && meet; k++) {
        GrBoundBarrier *r = &b->barriers.data[k];
        if (r->b->kind != GR_BARRIER_GRID)
            continue;
        st = learn_of_grid(b, r, err);
        meet = r->in_grid.solid;
    }
    *loose = !meet;
    return st;
}

// What lets two threads pass the barriers that count for them without order. NULL: *err.
static const GrTerm *passed_by(GrBound *b, GrReach reach, const char **doubt, gr_error *err) {
    const GrTerm *any = gr_term_false(b->t);
    bool loose = false;
    if (reach == GR_REACH_GRID) {
        if (is_loose(b, &loose, err) != GR_OK)
            return NULL;
        if (loose)
            *doubt = some_only;
        return loose ? gr_term_true(b->t) : any;
    }
    for (size_t k = 0; k < b->barriers.len && any && !gr_term_is_const(any, 1); k++) {
        GrBoundBarrier *r = &b->barriers.data[k];
        if (!gr_barrier_joins(r->b->kind, reach))
            continue;
        if (learn(b, r, err) != GR_OK)
            return NULL;
        any = gr_or(b->t, any, not_both(b, r, doubt));
    }
    return any;
}

const GrTerm *gr_order_unordered(GrBound *b, const GrBoundAccess *first, const GrBoundAccess *second,
                                 GrLevel level, const char **doubt, gr_error *err) {
    const GrTerm *any = gr_term_false(b->t);
    GrReach reach = reach_of(level);
    *doubt = NULL;
    if (reach == GR_REACH_GRID && !gr_kernel_has_grid_barrier(b->model))
        return gr_term_true(b->t);
    const GrAfters *xs = &first->a->after[reach], *ys = &second->a->after[reach];
    for (size_t i = 0; i < xs->len; i++)
        for (size_t j = 0; j < ys->len; j++)
            if (xs->data[i].barrier == ys->data[j].barrier)
                any = gr_or(b->t, any,
                            same_instance(b, first->a, &xs->data[i], second->a, &ys->data[j],
                                          reach == GR_REACH_GRID));
    if (any && !gr_term_is_const(any, 1))
        any = gr_or(b->t, any, passed_by(b, reach, doubt, err));
    if (!any && !err->code)
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
        *all = r->b->kind != GR_BARRIER_SOME && (r->in_block.solid || r->b->kind != GR_BARRIER_BLOCK);
    }
    return st;
}
