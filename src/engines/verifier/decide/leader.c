// SPDX-License-Identifier: Apache-2.0
// leader — a block's first thread takes a lock, all threads pass a barrier, access, and pass another barrier, and the
// first thread gives the lock back:
//
//     if (first) { while (atomicCAS(lock, 0, 1)) ; fence }   barrier   access
//     barrier   if (first) { fence; atomicExch(lock, 0) }
//
// While a thread of the block is at the access, its first thread has the lock, and no other block's first thread has
// it. The release pattern begins with the first thread's fence, which comes behind the barrier and so behind the
// access; the acquire pattern ends with a fence before the barrier (PTX ISA 8.9: barriers and both patterns are base
// causality order). So each fence must stand between the barrier and the atomic.
//
// Neither the loop that takes the lock nor the write that gives it back may be in another loop. The barriers may: the
// first thread passes all their rounds in between, and the fence that counts comes behind the last one, or before the
// first. The lock is the block's if the first thread surely takes it wherever the access happens, and no other thread
// gives it back.
#include "engines/verifier/decide/leader.h"

#include "engines/verifier/decide/order.h"
#include "engines/verifier/decide/waits.h"

#include <string.h>

typedef struct Leader {
    const GrBoundAccess *take, *give; // NULL: there is none
    GrFlaw flaw;
} Leader;

// ---- What stands around the access ----------------------------------------------------------------------------------

static Leader find(const GrBound *b, const GrKernelAccess *a) {
    Leader l = {0};
    GrFlaw flaw;
    for (size_t k = 0; k < b->accesses.len && !l.take; k++) {
        const GrKernelAccess *x = b->accesses.data[k].a;
        if (x->sync && gr_wait_takes(x->sync) && !x->sync->round && gr_wait_is_over(a, x->sync) &&
            gr_wait_barrier_behind(x, a, &l.flaw))
            l.take = &b->accesses.data[k];
    }
    for (size_t k = 0; k < b->accesses.len && l.take && !l.give; k++) {
        const GrKernelAccess *x = b->accesses.data[k].a;
        if (x->sync && x->writes && !gr_wait_takes(x->sync) && !x->loop && x->object == l.take->a->object &&
            x->offset == l.take->a->offset && gr_wait_same_width(x, l.take->a) &&
            gr_wait_barrier_before(x, a, &flaw)) {
            l.give = &b->accesses.data[k];
            l.flaw = l.flaw == GR_SOUND ? flaw : l.flaw;
        }
    }
    return l;
}

// ---- The first thread takes the lock and gives it back --------------------------------------------------------------

// A term as the block's first thread has it. NULL: memory is out, or the term has other symbols of one thread.
static const GrTerm *of_first(GrBound *b, const GrTerm *a, uint32_t block) {
    return gr_wait_term_of(b, a, &(GrOther){.number = 0}, block);
}

// *out: no thread 1 has both.
static gr_status never_both(GrBound *b, const GrTerm *x, const GrTerm *y, bool *out, gr_error *err) {
    const GrTerm *both[] = {x, y};
    return gr_pair_never(b, GR_LEVEL_BLOCKS, both, 2, NULL, out, err);
}

// Where thread 1 is at the access, the first thread of its block has taken the lock.
static gr_status is_taken(GrBound *b, const GrBoundAccess *a, const GrBoundAccess *take, bool *out,
                          gr_error *err) {
    const GrTerm *takes = of_first(b, take->guard, 1);
    *out = false;
    return takes ? never_both(b, gr_term_of_thread(b->t, a->guard, 1, true), gr_not(b->t, takes), out, err)
                 : GR_OK;
}

// Only the first thread gives it back, and only if it has taken it.
static gr_status is_given_by_first(GrBound *b, const Leader *l, bool *out, gr_error *err) {
    const GrTerm *gives = gr_term_of_thread(b->t, l->give->guard, 1, true),
                 *first = gr_term_of_thread(
                     b->t, gr_term_2(b->t, GR_TERM_EQ, b->linear, gr_term_const(b->t, b->linear->bits, 0)), 1,
                     true),
                 *took = gr_term_of_thread(b->t, l->take->guard, 1, true);
    gr_status st = never_both(b, gives, gr_not(b->t, first), out, err);
    return st == GR_OK && *out ? never_both(b, gives, gr_not(b->t, took), out, err) : st;
}

// Every write that may touch the lock takes it soundly, or is the one that gives it back.
static gr_status excludes(GrBound *b, const Leader *l, bool *out, gr_error *err) {
    const GrSync *taken = l->take->a->sync;
    uint64_t value, other;
    gr_status st = GR_OK;
    *out = gr_wait_free_value(b, taken, &value);
    for (size_t k = 0; k < b->accesses.len && *out && st == GR_OK; k++) {
        const GrBoundAccess *x = &b->accesses.data[k];
        const GrSync *s = x->a->sync;
        if (!x->a->writes || x == l->give || !gr_wait_may_meet(b, x, taken))
            continue;
        *out = s && gr_wait_takes(s);
        if (*out)
            st = gr_wait_is_sound(b, s, GR_LEVEL_BLOCKS, out, err);
        *out = *out && gr_wait_free_value(b, s, &other) && other == value &&
               gr_wait_same_width(x->a, l->take->a);
    }
    return st;
}

// ---- Both -----------------------------------------------------------------------------------------------------------

// *wrong: what is wrong with the lock; NULL: nothing.
static gr_status judge(GrBound *b, const GrBoundAccess *a, const Leader *l, const char **wrong,
                       gr_error *err) {
    bool holds = false;
    *wrong = NULL;
    gr_status st = gr_pair_all_meet(b, &holds, err);
    if (!l->give)
        *wrong =
            "behind the access and a barrier, the lock that one thread took for its block is not given back";
    else if (l->flaw != GR_SOUND)
        *wrong = gr_flaw_text(l->flaw);
    else if (!holds)
        *wrong = "one thread takes a lock for its block, but a barrier around the access may be reached by "
                 "some threads only";
    if (st != GR_OK || *wrong)
        return st;
    st = excludes(b, l, &holds, err);
    if (st == GR_OK && !holds)
        *wrong = "one thread takes a lock for its block, but others may take or give back the lock meanwhile";
    if (st == GR_OK && !*wrong) {
        st = is_taken(b, a, l->take, &holds, err);
        if (st == GR_OK && !holds)
            *wrong = "a lock is taken before the barrier, but perhaps not by the first thread of the block";
    }
    if (st == GR_OK && !*wrong) {
        st = is_given_by_first(b, l, &holds, err);
        if (st == GR_OK && !holds)
            *wrong = "the lock of the block may be given back by another thread than the one that took it";
    }
    return st;
}

gr_status gr_leader_decide(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o, bool *tried,
                           gr_error *err) {
    Leader l[2];
    gr_status st = GR_OK;
    if (v->level != GR_LEVEL_BLOCKS)
        return GR_OK;
    for (unsigned k = 0; k < 2; k++) {
        l[k] = find(b, v->sides[k]->a);
        if (!l[k].take)
            return GR_OK;
    }
    *tried = true;
    for (unsigned k = 0; k < 2 && st == GR_OK; k++) {
        const char *wrong;
        st = judge(b, v->sides[k], &l[k], &wrong, err);
        if (st == GR_OK && wrong) {
            v->missing = wrong;
            return GR_OK;
        }
    }
    const GrObject *lock = l[0].take->a->object;
    if (st != GR_OK || lock != l[1].take->a->object ||
        (lock->kind != GR_OBJECT_PARAM && lock->kind != GR_OBJECT_GLOBAL)) {
        v->missing = "the two blocks may hold different locks";
        return st;
    }
    const GrTerm *mine = of_first(b, l[0].take->offset, 1), *other = of_first(b, l[1].take->offset, 2);
    bool differ = true;
    if (mine && other)
        st = gr_wait_may_differ(b, terms, o, mine, other, &differ, err);
    if (st == GR_OK && !differ)
        v->decision = GR_PROVED;
    else
        v->missing = "the two blocks may hold locks at different addresses";
    return st;
}
