// SPDX-License-Identifier: Apache-2.0
// generations — blocks that go round a loop, and in each round g wait until flags of other blocks say how far those are:
//
//     for (g = 0; …; g++) {
//         if (thread < n) { while (flag[other] < wanted(g)) ; fence }   barrier   access   barrier   if (first) { fence; flag[own] = told(g) }
//     }
//
// An access X of round g in one block comes before an access Y of round h in another if some thread of Y's block waits in round h for the flag of X's block,
// and every value that ends the wait is at least told(g). For told() grows with each round and is more than 0, which the flag begins with. So
// what ended the wait was told in round g or later, by the one thread of X's block that writes the flag; and behind the barriers of these rounds, in which X is
// done. The fences make it a release and an acquire pattern, the barriers carry the order to and from the other threads (PTX ISA 8.9).
//
// Other threads may change the flag only by atomics that leave its value: then who reads it from them still observes what was told.
#include "engines/verifier/decide/generations.h"

#include "engines/verifier/decide/order.h"
#include "engines/verifier/decide/waits.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WAITERS = 4 }; // threads of a block, from the first on, that may be the one that waits

// One direction: whether the first access comes before the second.
typedef struct Order {
    const GrBoundAccess *first, *second;
    uint32_t thread[2]; // whose: 1 or 2
    const GrBoundAccess *set, *wait;
    GrFlaw set_flaw, wait_flaw;
} Order;

// ---- What stands around the access ----------------------------------------------------------------------------------------

// A loop that each thread of a block enters once, and goes round as often as the others.
static bool is_common(const GrLoop *l) { return l && !l->parent && l->uniform[GR_REACH_BLOCK]; }

// What is written to the flag; NULL: not known.
static const GrTerm *told(GrBound *b, const GrBoundAccess *set) {
    return gr_bound_term(b, set->a->sync->is_exch ? set->a->swap : set->a->value);
}

// Whether `x` sets a flag behind the access, in each round of a loop around both.
static bool sets(const GrBoundAccess *x, const GrKernelAccess *a, GrFlaw *flaw) {
    return x->a->sync && x->a->writes && !x->a->keeps && is_common(x->a->loop) &&
           gr_loop_is_within(a->loop, x->a->loop) && gr_wait_barrier_before(x->a, a, flaw);
}

// Whether `x` waits for a flag before the access.
static bool waits(const GrBoundAccess *x, const GrKernelAccess *a, GrFlaw *flaw) {
    const GrSync *y = x->a->sync;
    return y && y->is_read && y->spins && is_common(y->round) && gr_loop_is_within(a->loop, y->round) &&
           gr_wait_barrier_behind(x->a, a, flaw);
}

// ---- Terms of another thread of the block --------------------------------------------------------------------------------------

typedef struct As {
    GrBound *b;
    const GrLoop *loop;     // whose counter is the same for both threads
    const GrSymbol *result; // what the wait read last; NULL: none
    const GrTerm *fresh;    // that stands for it
    uint32_t thread;        // the number of the thread in its block; UINT32_MAX: any
    bool other;             // the term has other symbols of the thread's own
} As;

static const GrTerm *as_thread(void *user, GrTerms *t, const GrSymbol *s) {
    As *as = user;
    if (s == as->result)
        return as->fresh;
    if (as->thread != UINT32_MAX && s->kind == GR_SYM_SPECIAL && !strncmp(s->name, "%tid.", 5))
        return gr_term_const(t, s->bits, s->name[5] == 'x' ? as->thread : 0);
    as->other |= s->scope == GR_SYM_THREAD && s != as->loop->counter;
    return NULL;
}

// A term of the thread `as`, in the block and in the round of thread 1 or 2. NULL: it hangs on more than that, or memory is out.
static const GrTerm *of_block(As *as, const GrTerm *a, uint32_t thread) {
    as->other = false;
    const GrTerm *of = a ? gr_term_replace(as->b->t, a, &(GrReplace){as_thread, NULL, as}) : NULL;
    return of && !as->other ? gr_term_of_thread(as->b->t, of, thread, true) : NULL;
}

// ---- What is told ----------------------------------------------------------------------------------------------------------

static const GrTerm *of(const GrBound *b, const GrTerm *a, uint32_t thread) {
    return gr_term_of_thread(b->t, a, thread, false);
}

// In each block one thread tells, a larger value in each round, never 0 or less.
static gr_status grows(GrBound *b, const GrBoundAccess *set, bool *yes, gr_error *err) {
    const GrTerm *value = told(b, set), *counter = gr_term_sym(b->t, set->a->loop->counter);
    As any = {.b = b, .loop = set->a->loop, .thread = UINT32_MAX};
    *yes = false;
    if (!value || !of_block(&any, value, 1))
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
    return st;
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

// *wrong: what is, NULL: nothing.
static gr_status judge(GrBound *b, const Order *r, const char **wrong, gr_error *err) {
    const GrBoundAccess *wait = r->wait, *set = r->set;
    bool meet = false, grow = false, own = false;
    *wrong = NULL;
    if (r->wait_flaw != GR_SOUND || r->set_flaw != GR_SOUND) {
        *wrong = gr_flaw_text(r->wait_flaw != GR_SOUND ? r->wait_flaw : r->set_flaw);
        return GR_OK;
    }
    gr_status st = gr_order_all_meet(b, &meet, err);
    if (st == GR_OK && meet)
        st = is_own(b, set, &own, err);
    if (st == GR_OK && own)
        st = grows(b, set, &grow, err);
    const GrObject *flag = set->a->object;
    if (!meet)
        *wrong = "one thread waits for its block, but a barrier around the access may be reached by some "
                 "threads only";
    else if (!own)
        *wrong = "more than one block or place may set the flag";
    else if (!grow)
        *wrong = "what the flag is set to may not grow from round to round";
    else if (flag != wait->a->object || (flag->kind != GR_OBJECT_PARAM && flag->kind != GR_OBJECT_GLOBAL) ||
             !gr_wait_same_width(set->a, wait->a))
        *wrong = "the flag that is set and the flag that is waited for may be different ones";
    else if (!set->memory.zero)
        *wrong = gr_flag_may_be_set;
    return st;
}

// ---- Order -------------------------------------------------------------------------------------------------------------------

// That thread `number` of the second's block did not wait for what the first's block told behind the first access. NULL: memory is out.
static const GrTerm *did_not_wait(GrBound *b, const Order *r, uint32_t number) {
    const GrSync *w = r->wait->a->sync;
    const GrTerm *result = gr_bound_term(b, w->result), *until = gr_bound_term(b, w->until);
    if (!result || result->op != GR_TERM_SYM || !until)
        return gr_term_true(b->t);
    GrSymbol *last =
        gr_symbol(b->t, GR_SYM_FREE, GR_SYM_LAUNCH, result->bits, "what a flag was when a wait ended");
    if (!last)
        return NULL;
    As waiter = {b, w->round, result->sym, gr_term_sym(b->t, last), number, false},
       any = {.b = b, .loop = w->round, .thread = UINT32_MAX};
    const GrTerm *guard = of_block(&waiter, r->wait->guard, r->thread[1]),
                 *place = of_block(&waiter, r->wait->offset, r->thread[1]),
                 *ended = of_block(&waiter, until, r->thread[1]),
                 *flag = of_block(&any, r->set->offset, r->thread[0]),
                 *value = of_block(&any, told(b, r->set), r->thread[0]);
    if (!guard || !place || !ended || !flag || !value || value->bits != result->bits)
        return gr_term_true(b->t);
    const GrTerm *exists = gr_term_2(b->t, GR_TERM_ULT, gr_term_const(b->t, 32, number), b->block[0]),
                 *same = gr_term_2(b->t, GR_TERM_EQ, place, flag),
                 *waited = gr_and(b->t, gr_and(b->t, exists, guard), same),
                 *early = gr_and(b->t, ended, gr_term_2(b->t, GR_TERM_SLT, waiter.fresh, value));
    return gr_or(b->t, gr_not(b->t, waited), early);
}

// Adds what holds unless one of the first threads of the second's block has waited.
static gr_status add_unordered(GrBound *b, const Order *r, GrTermVec *all, gr_error *err) {
    for (uint32_t n = 0; n < MOST_WAITERS; n++) {
        const GrTerm *t = did_not_wait(b, r, n);
        if (!t || !gr_vec_push(all, t))
            return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    }
    return GR_OK;
}

// Adds what holds unless the first access comes before the second. *seen: there is a flag and a wait. *wrong: what is, with the last ones.
static gr_status look(GrBound *b, Order *r, GrTermVec *all, bool *seen, const char **wrong, gr_error *err) {
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
        if (st == GR_OK && !*wrong)
            st = add_unordered(b, r, all, err);
    }
    return st;
}

gr_status gr_generations_decide(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o,
                                bool *tried, gr_error *err) {
    GrTermVec all = {0};
    GrSolved solved = {0};
    const char *wrong = NULL;
    if (v->level != GR_LEVEL_BLOCKS)
        return GR_OK;
    gr_status st = GR_OK;
    for (size_t k = 0; k < terms->len && st == GR_OK; k++)
        if (!gr_vec_push(&all, terms->data[k]))
            st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
    for (unsigned k = 0; k < 2 && st == GR_OK; k++) {
        Order r = {.first = v->sides[k], .second = v->sides[!k], .thread = {k + 1, 2 - k}};
        st = look(b, &r, &all, tried, &wrong, err);
    }
    if (st == GR_OK && all.len > terms->len)
        st = gr_pair_solve(b, &all, o, &solved, err);
    else
        solved.answer = GR_ANSWER_UNKNOWN;
    if (st == GR_OK && solved.answer == GR_ANSWER_NO)
        v->decision = GR_PROVED;
    else if (*tried)
        v->missing = wrong ? wrong
                           : "no flag that one of the two blocks waits for says that the other one is done "
                             "with the round in which it makes its access";
    gr_solved_free(&solved);
    gr_vec_free(&all);
    return st;
}
