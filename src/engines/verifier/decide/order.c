// SPDX-License-Identifier: Apache-2.0
// order — barrier intervals. Two accesses can be unordered only if one instance of a barrier can be the last one that
// both threads passed. An instance is a barrier and, for each loop around it, which round.
//
// The order needs all threads to come to a barrier, or none. If the barrier's guard says otherwise, the barrier counts
// only for two threads that both come to it; and one of the grid orders no blocks, as only the first thread of a block
// waits for the other blocks.
#include "engines/verifier/decide/order.h"

#include <stdlib.h>

static const GrTerm *counter(GrBound *b, const GrLoop *l, uint32_t thread) {
    return gr_term_of_thread(b->t, gr_term_sym(b->t, l->counter), thread, false);
}

static GrReach reach_of(GrLevel level) {
    return level == GR_LEVEL_BLOCKS ? GR_REACH_GRID : level == GR_LEVEL_WARP ? GR_REACH_WARP : GR_REACH_BLOCK;
}

// What a thread that has left a loop, which runs once, knows of its last round.
static const GrTerm *when_left(GrBound *b, const GrKernelAccess *a, const GrLoop *l, uint32_t thread,
                               bool own) {
    if (!l->left || l->parent || gr_loop_is_within(a->loop, l))
        return gr_term_true(b->t);
    const GrTerm *left = gr_bound_term(b, l->left);
    return left ? gr_term_of_thread(b->t, left, thread, own) : NULL;
}

// Holds if the thread has gone round no loop that it has entered since the barrier.
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

static bool is_in_flight(const GrAfter *x) { return x->rounds == GR_ROUNDS_FLIGHT; }

// The rounds of the barrier's loop since the barrier are known, in the loop in which the thread passed it.
static bool is_told(const GrAfter *x) {
    if (is_in_flight(x))
        return !(x->taken >> GR_FLIGHT_ANY & 1);
    bool own = x->rounds == GR_ROUNDS_SAME || x->rounds == GR_ROUNDS_NEXT ||
               (x->rounds == GR_ROUNDS_LEFT && !x->barrier->loop->parent); // it runs once
    return own && !(x->taken & 4);
}

// In which round of a loop a copy began: the first, where it began before the loop.
static const GrTerm *round_before(GrBound *b, const GrKernelAccess *copy, const GrLoop *l, uint32_t thread) {
    const GrTerm *at = counter(b, l, thread);
    return at && !gr_loop_is_within(copy->loop, l) ? gr_term_const(b->t, at->bits, 0) : at;
}

// In which round of a loop around the barrier a thread passed it, but for the back edges of `taken`.
static const GrTerm *round_of(GrBound *b, const GrKernelAccess *a, const GrAfter *x, const GrLoop *l,
                              uint32_t thread) {
    return is_in_flight(x) ? round_before(b, a, l, thread) : counter(b, l, thread);
}

static const GrTerm *more(GrBound *b, const GrTerm *a, int by) {
    return a && by > 0 ? gr_term_2(b->t, GR_TERM_ADD, a, gr_term_const(b->t, a->bits, (uint64_t)by)) : a;
}

static const GrTerm *compare_but(GrBound *b, GrTermOp op, const GrTerm *mine, const GrTerm *other,
                                 int mine_more) {
    mine = more(b, mine, mine_more);
    other = more(b, other, -mine_more);
    return mine && other ? gr_term_2(b->t, op, mine, other) : NULL;
}

typedef struct Side {
    const GrKernelAccess *a;
    const GrAfter *x;
} Side;

// How many rounds after the access's own a thread passed the barrier: or, that many and more.
typedef struct Since {
    int rounds;
    bool or_more;
} Since;

static Since since(const GrAfter *x, int n) {
    return is_in_flight(x) ? (Since){n, n == GR_FLIGHT_MANY} : (Since){-n, false};
}

static const GrTerm *meet(GrBound *b, const GrTerm *mine, Since x, const GrTerm *other, Since y) {
    if (x.or_more && y.or_more)
        return gr_term_true(b->t);
    if (y.or_more)
        return compare_but(b, GR_TERM_ULE, other, mine, y.rounds - x.rounds);
    return compare_but(b, x.or_more ? GR_TERM_ULE : GR_TERM_EQ, mine, other, x.rounds - y.rounds);
}

// Holds if both threads passed the barrier in one round of its loop: rounds less those since then are equal.
static const GrTerm *same_round(GrBound *b, Side first, Side second) {
    const GrTerm *any = gr_term_false(b->t);
    const GrLoop *l = first.x->barrier->loop;
    const GrTerm *mine = round_of(b, first.a, first.x, l, 1), *other = round_of(b, second.a, second.x, l, 2);
    for (int i = 0; i <= GR_FLIGHT_MANY; i++)
        for (int j = 0; j <= GR_FLIGHT_MANY; j++)
            if (first.x->taken >> i & 1 && second.x->taken >> j & 1)
                any = gr_or(b->t, any, meet(b, mine, since(first.x, i), other, since(second.x, j)));
    return any;
}

static const GrTerm *side_left(GrBound *b, Side s, const GrLoop *l, uint32_t thread, bool own) {
    return is_in_flight(s.x) ? gr_term_true(b->t) : when_left(b, s.a, l, thread, own);
}

typedef struct Later {
    const GrLoop *loop;
    int rounds;
    bool other;
} Later;

static const GrTerm *some_later(void *user, GrTerms *t, const GrSymbol *s) {
    const Later *l = user;
    return s != l->loop->counter
               ? NULL
               : gr_term_2(t, GR_TERM_ADD, gr_term_sym(t, s), gr_term_const(t, s->bits, (uint64_t)l->rounds));
}

static void see_later(void *user, const GrSymbol *s) {
    Later *l = user;
    bool varies = s->kind == GR_SYM_FREE || s->kind == GR_SYM_OBJECT || s->kind == GR_SYM_COUNTER;
    l->other |= varies && s != l->loop->counter;
}

// Holds if the thread left the outermost loop around a copy of its own with so many back edges more. Other things than
// the loop's counter that decide about that need not be what they were when the copy began.
static const GrTerm *left_later(GrBound *b, const GrKernelAccess *copy, int rounds, uint32_t thread,
                                bool own) {
    const GrLoop *l = copy->loop;
    while (l && l->parent)
        l = l->parent;
    Later later = {l, rounds, false};
    if (!l || !l->left || rounds >= GR_FLIGHT_MANY)
        return gr_term_true(b->t);
    if (!gr_term_symbols(l->left, see_later, &later))
        return NULL;
    if (later.other)
        return gr_term_true(b->t);
    const GrTerm *left = gr_term_replace(b->t, l->left, &(GrReplace){.symbol = some_later, .user = &later});
    left = left ? gr_bound_term(b, left) : NULL;
    return left ? gr_term_of_thread(b->t, left, thread, own) : NULL;
}

// What is known of a thread whose barrier was not in the loop around the access.
static const GrTerm *side_out(GrBound *b, Side s, uint32_t thread, bool own) {
    const GrLoop *l = s.a->loop;
    while (l && l->parent)
        l = l->parent;
    bool out = is_in_flight(s.x) && !gr_loop_is_within(s.x->barrier->loop, l);
    return out ? left_later(b, s.a, s.x->own, thread, own) : gr_term_true(b->t);
}

// Holds if both threads passed the barrier in one round of every loop around it. Rounds of an unknown side stay open.
static const GrTerm *same_instance(GrBound *b, Side first, Side second, bool own) {
    const GrTerm *all =
        gr_and(b->t, still(b, first.a, first.x, 1, own), still(b, second.a, second.x, 2, own));
    all = gr_and(b->t, all, gr_and(b->t, side_out(b, first, 1, own), side_out(b, second, 2, own)));
    const GrLoop *l = first.x->barrier->loop;
    if (!l || !is_told(first.x) || !is_told(second.x))
        return all;
    all = gr_and(b->t, all, same_round(b, first, second));
    all = gr_and(b->t, all, gr_and(b->t, side_left(b, first, l, 1, own), side_left(b, second, l, 2, own)));
    for (l = l->parent; l; l = l->parent)
        all = gr_and(b->t, all,
                     compare_but(b, GR_TERM_EQ, round_of(b, first.a, first.x, l, 1),
                                 round_of(b, second.a, second.x, l, 2), 0));
    return all;
}

// ---- Barriers that not all may reach --------------------------------------------------------------------------------

typedef struct Varies {
    const GrBarrier *of;
    GrReach reach;
    bool by_thread, by_value;
} Varies;

// The counter is equal for all threads that come to the barrier: its loop is around the barrier, in the round in which
// they meet, or all have left it. The latter counts only if outer loops, too, go round equally often for all.
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

// The loop reads `s` to know if it goes on, where all threads meet in each round: all go on, or none does.
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

// The guard of what is in the loop can say which rounds there are: not if they depend on data.
static bool has_told_rounds(const GrLoop *l) {
    Open o = {l, false};
    return l->left && gr_term_symbols(l->left, see_open, &o) && !o.found;
}

// Asks for two such threads of which one comes to the barrier and the other does not, in one round.
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
    GR_NEED(gr_term_symbols(r->guard, look, &v), err);
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

// Asks about a barrier of the grid. Blocks count their barriers: so the loops around must go round equally often, too.
static gr_status learn_of_grid(GrBound *b, GrBoundBarrier *r, gr_error *err) {
    if (r->in_grid.asked)
        return GR_OK;
    r->in_grid.asked = true;
    for (const GrLoop *l = r->b->loop; l; l = l->parent)
        if (!l->uniform[GR_REACH_GRID])
            return GR_OK;
    return see(b, r, GR_LEVEL_BLOCKS, &r->in_grid.solid, err);
}

// ---- Both -----------------------------------------------------------------------------------------------------------

static const char some_only[] = "a barrier may be reached by some of its threads only";

static bool is_whole_warp(const GrBarrier *r) {
    return r->mask && r->mask->op == GR_TERM_CONST && (uint32_t)r->mask->value == UINT32_MAX;
}

// What lets two threads of a block pass a barrier without order: one of them misses it, or is not in its mask.
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

// The grid's barriers order nothing. A block's barriers count, too: they may be mistaken for half of a grid's.
static gr_status is_loose(GrBound *b, bool *loose, gr_error *err) {
    bool meet = true;
    gr_status st = gr_pair_all_meet(b, &meet, err);
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

const GrTerm *gr_pair_unordered(GrBound *b, const GrBoundAccess *first, const GrBoundAccess *second,
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
                            same_instance(b, (Side){first->a, &xs->data[i]}, (Side){second->a, &ys->data[j]},
                                          reach == GR_REACH_GRID));
    if (any && !gr_term_is_const(any, 1))
        any = gr_or(b->t, any, passed_by(b, reach, doubt, err));
    if (!any && !err->code)
        gr_no_memory(err);
    return any;
}

// ---- One thread -----------------------------------------------------------------------------------------------------

// Holds if a loop around `l` is in another round than when the copy began. Loops without the copy tell nothing.
static const GrTerm *other_round(GrBound *b, const GrKernelAccess *copy, const GrLoop *l, uint32_t thread) {
    const GrTerm *any = gr_term_false(b->t);
    for (l = l->parent; l; l = l->parent)
        any = gr_or(b->t, any,
                    !gr_loop_is_within(copy->loop, l)
                        ? gr_term_true(b->t)
                        : gr_not(b->t, compare_but(b, GR_TERM_EQ, counter(b, l, thread),
                                                   counter(b, l, 3 - thread), 0)));
    return any;
}

// What is known of the rounds of the loop that the flight counts.
static const GrTerm *rounds_between(GrBound *b, const GrKernelAccess *copy, const GrFlight *f,
                                    uint32_t thread) {
    const GrLoop *l = f->loop;
    if (!l)
        return gr_term_true(b->t);
    const GrTerm *any = gr_term_false(b->t), *began = round_before(b, copy, l, thread),
                 *its = counter(b, l, 3 - thread), *around = gr_term_true(b->t);
    for (int n = 0; n <= GR_FLIGHT_MANY; n++)
        if (f->taken >> n & 1)
            any = gr_or(b->t, any, meet(b, began, (Since){n, n == GR_FLIGHT_MANY}, its, (Since){0}));
    for (const GrLoop *p = l->parent; p; p = p->parent)
        around = gr_and(
            b->t, around,
            compare_but(b, GR_TERM_EQ, round_before(b, copy, p, thread), counter(b, p, 3 - thread), 0));
    any = gr_and(b->t, any, around);
    return f->taken >> GR_FLIGHT_ANY & 1 ? gr_or(b->t, any, other_round(b, copy, l, thread)) : any;
}

// Holds if the thread comes to `other` while its copy is under way, as the flights say of each loop around `other`.
static const GrTerm *comes_in_flight(GrBound *b, const GrKernelAccess *copy, const GrKernelAccess *other,
                                     uint32_t thread) {
    const GrTerm *all = gr_term_true(b->t);
    const GrLoop *l = other->loop, *outer = copy->loop;
    while (outer && outer->parent)
        outer = outer->parent;
    do {
        const GrTerm *any = gr_term_false(b->t);
        bool out = !gr_loop_is_within(l, outer);
        for (size_t k = 0; k < copy->flights.len; k++) {
            const GrFlight *f = &copy->flights.data[k];
            if (f->other == other && f->loop == l)
                any = gr_or(b->t, any,
                            gr_and(b->t, rounds_between(b, copy, f, thread),
                                   out ? left_later(b, copy, f->own, thread, false) : gr_term_true(b->t)));
        }
        all = gr_and(b->t, all, any);
        l = l ? l->parent : NULL;
    } while (l);
    return all;
}

const GrTerm *gr_pair_in_flight(GrBound *b, const GrBoundAccess *first, const GrBoundAccess *second) {
    return gr_or(b->t, comes_in_flight(b, first->a, second->a, 1),
                 comes_in_flight(b, second->a, first->a, 2));
}

// ---- All of a block -------------------------------------------------------------------------------------------------

gr_status gr_pair_all_meet(GrBound *b, bool *all, gr_error *err) {
    gr_status st = GR_OK;
    *all = true;
    for (size_t k = 0; k < b->barriers.len && st == GR_OK && *all; k++) {
        GrBoundBarrier *r = &b->barriers.data[k];
        if (r->b->kind == GR_BARRIER_BLOCK)
            st = learn(b, r, err);
        // A barrier of some threads may have the number of one of all threads.
        *all = r->b->kind != GR_BARRIER_SOME && (r->in_block.solid || r->b->kind != GR_BARRIER_BLOCK);
    }
    return st;
}
