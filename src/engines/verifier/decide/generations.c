// SPDX-License-Identifier: Apache-2.0
// generations — blocks that go round a loop, and in each round g wait for flags of other blocks to say how far they
// are:
//
//     for (g = 0; …; g++) {
//         if (thread < n) { while (flag[other] < wanted(g)) ; fence }   barrier   access   barrier
//         if (first) { fence; flag[own] = told(g) }
//     }
//
// Let X be an access of round g in one block, Y of round h in another. X comes before Y if some thread of Y's block
// waits in round h for the flag of X's block, and every value that ends the wait is at least told(g). For told() grows
// with each round and is more than 0, with which the flag begins. So the value that ended the wait was told in round g
// or later, by the one thread of X's block that writes the flag; and behind the barriers of these rounds, where X is
// done. The fences make it a release and an acquire pattern, and the barriers carry the order to and from the other
// threads (PTX ISA 8.9).
//
// Other threads may change the flag only by atomics that leave its value: a thread that reads the flag behind such an
// atomic still observes what was told. The numbers must not wrap, since the solver reads them as integers.
#include "engines/verifier/decide/generations.h"

#include "engines/verifier/decide/order.h"
#include "engines/verifier/decide/waits.h"

#include <string.h>

enum { MOST_WAITERS = 4 }; // threads of a block, from the first on, that may be the one that waits

// One direction: the first access comes before the second.
typedef struct Order {
    const GrBoundAccess *first, *second;
    uint32_t thread[2]; // whose: 1 or 2
    const GrBoundAccess *set, *wait;
    GrFlaw set_flaw, wait_flaw;
} Order;

// ---- What stands around the access ----------------------------------------------------------------------------------

// A loop that each thread of a block enters once, and goes round as often as the others.
static bool is_common(const GrLoop *l) { return l && !l->parent && l->uniform[GR_REACH_BLOCK]; }

// What is written to the flag; NULL: not known.
static const GrTerm *told(GrBound *b, const GrBoundAccess *set) {
    return gr_bound_term(b, set->a->sync->is_exch ? set->a->swap : set->a->value);
}

// `x` sets a flag behind the access, in each round of a loop around both.
static bool sets(const GrBoundAccess *x, const GrKernelAccess *a, GrFlaw *flaw) {
    return x->a->sync && x->a->writes && !x->a->keeps && is_common(x->a->loop) &&
           gr_loop_is_within(a->loop, x->a->loop) && gr_wait_barrier_before(x->a, a, flaw);
}

// `x` waits for a flag before the access.
static bool waits(const GrBoundAccess *x, const GrKernelAccess *a, GrFlaw *flaw) {
    const GrSync *y = x->a->sync;
    return y && y->is_read && y->spins && is_common(y->round) && gr_loop_is_within(a->loop, y->round) &&
           gr_wait_barrier_behind(x->a, a, flaw);
}

// ---- What is told ---------------------------------------------------------------------------------------------------

static const GrTerm *of(const GrBound *b, const GrTerm *a, uint32_t thread) {
    return gr_term_of_thread(b->t, a, thread, false);
}

// Where the guard holds, no number in the term leaves 32 bits. Wider ones are not looked at: false.
static gr_status is_exact(GrBound *b, const GrTerm *guard, const GrTerm *a, bool *yes, gr_error *err) {
    gr_status st = GR_OK;
    *yes = true;
    for (unsigned k = 0; k < 3 && a->arg[k] && *yes && st == GR_OK; k++)
        st = is_exact(b, guard, a->arg[k], yes, err);
    bool wraps = a->op == GR_TERM_ADD || a->op == GR_TERM_SUB || a->op == GR_TERM_MUL || a->op == GR_TERM_SHL;
    *yes = *yes && (!wraps || a->bits <= 32);
    if (!wraps || !*yes || st != GR_OK)
        return st;
    // The step with 64 bits: its operands are exact.
    const GrTerm *wide = gr_term_2(b->t, a->op, gr_term_resize(b->t, 64, true, of(b, a->arg[0], 1)),
                                   gr_term_resize(b->t, 64, true, of(b, a->arg[1], 1))),
                 *large = gr_term_2(b->t, GR_TERM_SLT, gr_term_const(b->t, 64, INT32_MAX), wide),
                 *small = gr_term_2(b->t, GR_TERM_SLT, wide, gr_term_const(b->t, 64, (uint64_t)INT32_MIN)),
                 *out[] = {of(b, guard, 1), gr_or(b->t, large, small)};
    return gr_pair_never(b, GR_LEVEL_ALONE, out, 2, NULL, yes, err);
}

// In each block one thread tells, a larger value in each round, never 0 or less.
static gr_status grows(GrBound *b, const GrBoundAccess *set, bool *yes, gr_error *err) {
    const GrTerm *value = told(b, set), *counter = gr_term_sym(b->t, set->a->loop->counter);
    const GrOther any = {.loop = set->a->loop, .number = GR_ANY_THREAD};
    *yes = false;
    if (!value || !gr_wait_term_of(b, value, &any, 1))
        return GR_OK;
    const GrTerm *zero = gr_term_const(b->t, value->bits, 0);
    const GrTerm *both[] = {of(b, set->guard, 1), of(b, set->guard, 2)},
                 *later[] = {both[0], both[1],
                             gr_term_2(b->t, GR_TERM_SLT, of(b, counter, 1), of(b, counter, 2)),
                             gr_term_2(b->t, GR_TERM_SLE, of(b, value, 2), of(b, value, 1))},
                 *low[] = {both[0], gr_term_2(b->t, GR_TERM_SLE, of(b, value, 1), zero)};
    gr_status st = gr_pair_never(b, GR_LEVEL_ANY_WARP, both, 2, NULL, yes, err);
    if (st == GR_OK && *yes)
        st = gr_pair_never(b, GR_LEVEL_ALONE, later, 4, NULL, yes, err);
    if (st == GR_OK && *yes)
        st = gr_pair_never(b, GR_LEVEL_ALONE, low, 2, NULL, yes, err);
    return st == GR_OK && *yes ? is_exact(b, set->guard, value, yes, err) : st;
}

// Each block tells by a flag of its own, and nothing else changes any of these flags.
static gr_status is_own(GrBound *b, const GrBoundAccess *set, bool *yes, gr_error *err) {
    for (size_t k = 0; k < b->accesses.len; k++) {
        const GrBoundAccess *x = &b->accesses.data[k];
        *yes = x == set || !x->a->writes || x->a->keeps || !gr_wait_may_meet(b, x, set->a->sync);
        if (!*yes)
            return GR_OK;
    }
    const GrTerm *guards[] = {gr_term_of_thread(b->t, set->guard, 1, true),
                              gr_term_of_thread(b->t, set->guard, 2, true)};
    const GrOverlap o = {gr_term_of_thread(b->t, set->offset, 1, true),
                         gr_term_of_thread(b->t, set->offset, 2, true), set->a->size, set->a->size};
    return gr_pair_never(b, GR_LEVEL_BLOCKS, guards, 2, &o, yes, err);
}

// *wrong: what is wrong with the flag; NULL: nothing.
static gr_status judge(GrBound *b, const Order *r, const char **wrong, gr_error *err) {
    const GrBoundAccess *wait = r->wait, *set = r->set;
    const GrTerm *until = gr_bound_term(b, wait->a->sync->until);
    bool meet = false, grow = false, own = false, exact = false;
    *wrong = NULL;
    if (r->wait_flaw != GR_SOUND || r->set_flaw != GR_SOUND) {
        *wrong = gr_flaw_text(r->wait_flaw != GR_SOUND ? r->wait_flaw : r->set_flaw);
        return GR_OK;
    }
    gr_status st = gr_pair_all_meet(b, &meet, err);
    if (st == GR_OK && meet)
        st = is_own(b, set, &own, err);
    if (st == GR_OK && own)
        st = grows(b, set, &grow, err);
    if (st == GR_OK && grow && until)
        st = is_exact(b, wait->guard, until, &exact, err);
    const GrObject *flag = set->a->object;
    if (!meet)
        *wrong = "one thread waits for its block, but a barrier around the access may be reached by some "
                 "threads only";
    else if (!own)
        *wrong = "more than one block or place may set the flag";
    else if (!grow)
        *wrong = "what the flag is set to may not grow from round to round";
    else if (!exact)
        *wrong = "the number that is waited for may wrap";
    else if (flag != wait->a->object || (flag->kind != GR_OBJECT_PARAM && flag->kind != GR_OBJECT_GLOBAL) ||
             !gr_wait_same_width(set->a, wait->a))
        *wrong = "the flag that is set and the flag that is waited for may be different ones";
    else if (!set->memory.zero)
        *wrong = gr_flag_may_be_set;
    return st;
}

// ---- Order ----------------------------------------------------------------------------------------------------------

// Thread `number` of the second's block did not wait for what the first's block told after its access. NULL: no memory.
static const GrTerm *did_not_wait(GrBound *b, const Order *r, uint32_t number) {
    const GrSync *w = r->wait->a->sync;
    const GrTerm *result = gr_bound_term(b, w->result), *until = gr_bound_term(b, w->until);
    if (!result || result->op != GR_TERM_SYM || !until)
        return gr_term_true(b->t);
    GrSymbol *last =
        gr_symbol(b->t, GR_SYM_FREE, GR_SYM_LAUNCH, result->bits, "what a flag was when a wait ended");
    if (!last)
        return NULL;
    const GrOther waiter = {number, w->round, result->sym, gr_term_sym(b->t, last)},
                  any = {.loop = w->round, .number = GR_ANY_THREAD};
    const GrTerm *guard = gr_wait_term_of(b, r->wait->guard, &waiter, r->thread[1]),
                 *place = gr_wait_term_of(b, r->wait->offset, &waiter, r->thread[1]),
                 *ended = gr_wait_term_of(b, until, &waiter, r->thread[1]),
                 *flag = gr_wait_term_of(b, r->set->offset, &any, r->thread[0]),
                 *value = gr_wait_term_of(b, told(b, r->set), &any, r->thread[0]);
    if (!guard || !place || !ended || !flag || !value || value->bits != result->bits)
        return gr_term_true(b->t);
    const GrTerm *exists = gr_term_2(b->t, GR_TERM_ULT, gr_term_const(b->t, 32, number), b->block[0]),
                 *same = gr_term_2(b->t, GR_TERM_EQ, place, flag),
                 *waited = gr_and(b->t, gr_and(b->t, exists, guard), same),
                 *early = gr_and(b->t, ended, gr_term_2(b->t, GR_TERM_SLT, waiter.fresh, value));
    return gr_or(b->t, gr_not(b->t, waited), early);
}

// Adds to *unordered what holds unless the first access comes before the second: one of the first threads of the
// second's block has waited. *seen: there is a flag and a wait. *wrong: what is wrong with the last ones.
static gr_status look(GrBound *b, Order *r, const GrTerm **unordered, bool *seen, const char **wrong,
                      gr_error *err) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < b->accesses.len && !r->set; k++)
        if (sets(&b->accesses.data[k], r->first->a, &r->set_flaw))
            r->set = &b->accesses.data[k];
    for (size_t k = 0; k < b->accesses.len && r->set && st == GR_OK; k++) {
        r->wait = &b->accesses.data[k];
        if (!waits(r->wait, r->second->a, &r->wait_flaw))
            continue;
        *seen = true;
        st = judge(b, r, wrong, err);
        for (uint32_t n = 0; n < MOST_WAITERS && st == GR_OK && !*wrong; n++)
            *unordered = gr_and(b->t, *unordered, did_not_wait(b, r, n));
    }
    return st;
}

gr_status gr_generations_decide(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o,
                                bool *tried, gr_error *err) {
    const char *wrong = NULL;
    const GrTerm *unordered = gr_term_true(b->t);
    bool may = true;
    if (v->level != GR_LEVEL_BLOCKS)
        return GR_OK;
    gr_status st = GR_OK;
    for (unsigned k = 0; k < 2 && st == GR_OK; k++) {
        Order r = {.first = v->sides[k], .second = v->sides[!k], .thread = {k + 1, 2 - k}};
        st = look(b, &r, &unordered, tried, &wrong, err);
    }
    if (st == GR_OK &&
        !(unordered && gr_term_is_const(unordered, 1))) // else nothing was found that orders them
        st = gr_wait_may_hold(b, terms, o, unordered, &may, err);
    if (st == GR_OK && !may)
        v->decision = GR_PROVED;
    else if (*tried)
        v->missing = wrong ? wrong
                           : "no flag that one of the two blocks waits for says that the other one is done "
                             "with the round in which it makes its access";
    return st;
}
