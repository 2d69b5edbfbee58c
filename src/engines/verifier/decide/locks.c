// SPDX-License-Identifier: Apache-2.0
// locks — HGRD's section 6.5 and appendix A.2, and narrower. A lock is an atomic that a loop repeats until it has the lock, then a fence; and behind the
// access a fence, then a store or atomic to the same place. A flag is the second half around the writer and a wait and a fence before the
// other side. The scope is the narrowest of the parts.
//
// A proof by a lock needs that two threads never have it at once. The loop must end only when the atomic returned the value that means free, and the atomic
// must have written another value then. Every other write that may touch the lock must be made once by a thread that has the lock, in the round in which
// that thread took it: such a write gives the lock back. Then the lock excludes other threads, whatever it held in the beginning. A proof by a flag needs
// that one thread sets the flag, once, and that no loop that waits for the flag ends while it is 0, which is taken to be its value in the beginning.
// Everything else that looks like a lock or a flag is no proof: possible.
#include "engines/verifier/decide/locks.h"

#include <stdlib.h>

// One half of a lock or a flag.
typedef enum Flaw { SOUND, NONE, NO_FENCE, NARROW } Flaw;
typedef struct Half {
    const GrSync *at; // the atomic, the store or the load
    Flaw flaw;
} Half;

static bool covers(PtxScope s, GrLevel level) {
    return level == GR_LEVEL_BLOCKS ? s == PTX_SCOPE_GPU || s == PTX_SCOPE_SYS : s != PTX_SCOPE_NONE;
}

static bool acquires(const GrSync *s) {
    return s->sem == PTX_ACQUIRE || s->sem == PTX_ACQ_REL || s->sem == PTX_SC;
}
static bool releases(const GrSync *s) {
    return s->sem == PTX_RELEASE || s->sem == PTX_ACQ_REL || s->sem == PTX_SC;
}

// How good `at` is with the fences that were met on the way to it.
static Half half_of(const GrSync *at, bool orders, bool fence, bool narrow_fence, GrLevel level) {
    Half h = {at, SOUND};
    if (!covers(at->scope, level))
        h.flaw = NARROW;
    else if (!orders && !fence)
        h.flaw = narrow_fence ? NARROW : NO_FENCE;
    return h;
}

// ---- Waiting -------------------------------------------------------------------------------------------------------------

static bool is_taking(const GrSync *s) { return s->spins && (s->is_cas || s->is_exch); }

// What the lock holds while it is free: what the CAS compares with; of an exchange 0. False: not known, or taking it leaves that.
static bool free_value(GrBound *b, const GrSync *s, uint64_t *value) {
    const GrTerm *compare = gr_bound_term(b, s->access->compare), *swap = gr_bound_term(b, s->access->swap);
    if (!swap || swap->op != GR_TERM_CONST || (s->is_cas && (!compare || compare->op != GR_TERM_CONST)))
        return false;
    *value = s->is_cas ? compare->value : 0;
    return swap->value != *value;
}

// The loop cannot end while `not_yet` holds of a thread.
static gr_status ends_only_then(GrBound *b, const GrSync *s, GrLevel level, const GrTerm *not_yet, bool *out,
                                gr_error *err) {
    bool own = level == GR_LEVEL_BLOCKS;
    GrTermVec terms = {0};
    GrSolved answer = {0};
    gr_status st = gr_pair_facts(b, level, &terms, err);
    const GrTerm *until = gr_bound_term(b, s->until);
    const GrTerm *both =
        until && not_yet ? gr_term_of_thread(b->t, gr_and(b->t, until, not_yet), 1, own) : NULL;
    if (st == GR_OK)
        st = both && gr_vec_push(&terms, both) ? gr_pair_solve(b, &terms, NULL, &answer, err)
                                               : gr_fail(err, GR_ERR_NOMEM, "out of memory");
    *out = st == GR_OK && answer.answer == GR_ANSWER_NO;
    gr_solved_free(&answer);
    gr_vec_free(&terms);
    return st;
}

// A thread that leaves the loop has the lock; or the flag that it waited for was set.
static gr_status is_sound_wait(GrBound *b, const GrSync *s, GrLevel level, bool *out, gr_error *err) {
    bool blocks = level == GR_LEVEL_BLOCKS, lock = is_taking(s);
    uint64_t value = 0;
    *out = false;
    for (size_t k = 0; k < b->waits.len; k++)
        if (b->waits.data[k].sync == s && b->waits.data[k].blocks == blocks) {
            *out = b->waits.data[k].sound;
            return GR_OK;
        }
    const GrTerm *result = gr_bound_term(b, s->result);
    if (!s->until || !result || (lock && !free_value(b, s, &value)))
        return GR_OK;
    const GrTerm *same = gr_term_2(b->t, GR_TERM_EQ, result, gr_term_const(b->t, result->bits, value));
    gr_status st = ends_only_then(b, s, level, lock ? gr_not(b->t, same) : same, out, err);
    const GrWait known = {s, blocks, *out};
    if (st == GR_OK)
        (void)gr_vec_push(&b->waits, known); // else it is asked again
    return st;
}

// The atomic that took the lock which its thread has at the access, if any: nothing that is surely passed has written since.
static const GrSync *taken_before(const GrKernelAccess *a) {
    for (size_t k = a->before.len; k-- > 0;) {
        const GrSync *s = a->before.data[k];
        if (!s->is_fence && (s->is_cas || s->is_exch || s->is_write))
            return is_taking(s) ? s : NULL;
    }
    return NULL;
}

// What the access waited for: a lock (`lock`), or a flag.
static Half find_acquire(const GrKernelAccess *a, GrLevel level, bool lock) {
    bool fence = false, narrow = false;
    for (size_t k = a->before.len; k-- > 0;) {
        const GrSync *s = a->before.data[k];
        if (s->is_fence) {
            fence |= covers(s->scope, level);
            narrow |= !covers(s->scope, level);
        } else if (lock ? s == taken_before(a) : s->spins && s->is_read)
            return half_of(s, acquires(s), fence, narrow, level);
    }
    return (Half){NULL, NONE};
}

static Half find_release(const GrKernelAccess *a, GrLevel level) {
    bool fence = false, narrow = false;
    for (size_t k = 0; k < a->behind.len; k++) {
        const GrSync *s = a->behind.data[k];
        if (s->is_fence) {
            fence |= covers(s->scope, level);
            narrow |= !covers(s->scope, level);
        } else if (!s->spins && (s->is_exch || s->is_write))
            return half_of(s, releases(s), fence, narrow, level);
    }
    return (Half){NULL, NONE};
}

// ---- Addresses -----------------------------------------------------------------------------------------------------------

static const GrTerm *offset_of(GrBound *b, const GrSync *s, uint32_t thread, GrLevel level) {
    const GrTerm *o = gr_bound_term(b, s->offset);
    return o ? gr_term_of_thread(b->t, o, thread, level == GR_LEVEL_BLOCKS) : NULL;
}

// While the two conflict, can the places of x in thread 1 and y in thread 2 differ?
static gr_status may_differ(GrBound *b, const GrVerdict *v, const GrTermVec *terms, const GrOverlap *o,
                            const GrSync *x, const GrSync *y, GrAnswer *out, gr_error *err) {
    *out = GR_ANSWER_YES;
    if (!x->object || x->object != y->object || x->object->kind == GR_OBJECT_UNKNOWN ||
        (x->object->kind == GR_OBJECT_SHARED && v->level == GR_LEVEL_BLOCKS)) // each block has its own
        return GR_OK;
    gr_status st = GR_OK;
    GrSolved s = {0};
    GrTermVec all = {0};
    bool ok = true;
    for (size_t k = 0; ok && k < terms->len; k++)
        ok = gr_vec_push(&all, terms->data[k]);
    const GrTerm *other =
        gr_not(b->t, gr_term_2(b->t, GR_TERM_EQ, offset_of(b, x, 1, v->level), offset_of(b, y, 2, v->level)));
    ok = ok && other && gr_vec_push(&all, other);
    st = ok ? gr_pair_solve(b, &all, o, &s, err) : gr_fail(err, GR_ERR_NOMEM, "out of memory");
    *out = s.answer;
    gr_solved_free(&s);
    gr_vec_free(&all);
    return st;
}

// ---- Who else writes the lock or the flag --------------------------------------------------------------------------------------

static bool may_meet(GrBound *b, const GrBoundAccess *x, const GrSync *s) {
    StrBuf why = {0};
    GrAlias alias = gr_bound_alias(b, &x->memory, &b->accesses.data[s->access->id].memory, &why);
    gr_str_free(&why);
    return alias != GR_ALIAS_APART;
}

static bool is_behind(const GrKernelAccess *a, const GrSync *s) {
    for (size_t k = 0; k < a->behind.len; k++)
        if (a->behind.data[k] == s)
            return true;
    return false;
}

static bool is_within(const GrLoop *inner, const GrLoop *outer) {
    while (inner && inner != outer)
        inner = inner->parent;
    return inner == outer;
}

// A write that gives back the lock which its thread has: in the round in which it was taken, and no other write does.
static bool gives_back(const GrBound *b, const GrKernelAccess *x) {
    const GrSync *taken = taken_before(x);
    if (!taken || taken->object != x->object || taken->offset != x->offset || x->loop != taken->round)
        return false;
    for (size_t k = 0; k < b->accesses.len; k++) {
        const GrKernelAccess *y = b->accesses.data[k].a;
        if (y != x && y->writes && y->sync && !is_taking(y->sync) && y->object == x->object &&
            taken_before(y) == taken)
            return false;
    }
    return true;
}

// While a thread is at the access, no other thread can have the lock that it took by `taken`.
static gr_status excludes(GrBound *b, const GrKernelAccess *a, const GrSync *taken, GrLevel level, bool *out,
                          gr_error *err) {
    uint64_t value, other;
    gr_status st = GR_OK;
    *out = free_value(b, taken, &value) && is_within(a->loop, taken->round);
    for (size_t k = 0; k < b->accesses.len && *out && st == GR_OK; k++) {
        const GrBoundAccess *x = &b->accesses.data[k];
        const GrSync *s = x->a->sync;
        if (!x->a->writes || !may_meet(b, x, taken))
            continue;
        if (s && is_taking(s)) {
            st = is_sound_wait(b, s, level, out, err);
            *out =
                *out && free_value(b, s, &other) && other == value && s->access->size == taken->access->size;
        } else {
            *out = s && gives_back(b, x->a) && (taken_before(x->a) != taken || is_behind(a, s));
        }
    }
    return st;
}

// One instruction sets the flag, once, and never for two threads the same one. NULL in *flag: no.
static gr_status flag_is_of_one_thread(GrBound *b, const GrSync *set, bool *yes, gr_error *err) {
    const GrBoundAccess *flag = NULL;
    gr_status st = GR_OK;
    *yes = true;
    for (size_t k = 0; k < b->accesses.len; k++) {
        const GrBoundAccess *x = &b->accesses.data[k];
        if (!x->a->writes || !may_meet(b, x, set))
            continue;
        if (flag || x->a->sync != set || x->a->loop)
            *yes = false;
        flag = x;
    }
    static const GrLevel levels[] = {GR_LEVEL_ANY_WARP, GR_LEVEL_BLOCKS};
    for (unsigned k = 0; k < 2 && *yes && st == GR_OK; k++) {
        bool own = levels[k] == GR_LEVEL_BLOCKS;
        GrTermVec terms = {0};
        GrSolved s = {0};
        st = flag ? gr_pair_facts(b, levels[k], &terms, err) : GR_OK;
        if (flag && st == GR_OK) {
            GrOverlap o = {gr_term_of_thread(b->t, flag->offset, 1, own),
                           gr_term_of_thread(b->t, flag->offset, 2, own), flag->a->size, flag->a->size};
            bool ok = gr_vec_push(&terms, gr_term_of_thread(b->t, flag->guard, 1, own)) &&
                      gr_vec_push(&terms, gr_term_of_thread(b->t, flag->guard, 2, own));
            st = ok ? gr_pair_solve(b, &terms, &o, &s, err) : gr_fail(err, GR_ERR_NOMEM, "out of memory");
        }
        *yes = flag && s.answer == GR_ANSWER_NO;
        gr_solved_free(&s);
        gr_vec_free(&terms);
    }
    return st;
}

// ---- Both --------------------------------------------------------------------------------------------------------------------

static const char *text_of(Flaw f) {
    return f == NO_FENCE ? "there is a lock or flag, but no fence between it and the access"
                         : "there is a lock or flag, but its scope or that of its fence does not include the "
                           "other thread";
}

static gr_status by_lock(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o, bool *tried,
                         gr_error *err) {
    Half got[2], gave[2];
    for (unsigned k = 0; k < 2; k++) {
        got[k] = find_acquire(v->sides[k]->a, v->level, true);
        gave[k] = find_release(v->sides[k]->a, v->level);
        if (!got[k].at || !gave[k].at)
            return GR_OK;
    }
    *tried = true;
    gr_status st = GR_OK;
    for (unsigned k = 0; k < 2 && st == GR_OK; k++) {
        Flaw flaw = got[k].flaw != SOUND ? got[k].flaw : gave[k].flaw;
        bool same = got[k].at->object == gave[k].at->object && got[k].at->offset == gave[k].at->offset,
             waits = false, alone = false;
        st = is_sound_wait(b, got[k].at, v->level, &waits, err);
        if (st == GR_OK)
            st = excludes(b, v->sides[k]->a, got[k].at, v->level, &alone, err);
        if (flaw != SOUND || !same || !waits || !alone) {
            v->missing = flaw != SOUND ? text_of(flaw)
                         : !same
                             ? "what is released behind the access is not the lock that was taken before it"
                         : !waits ? "the loop around the atomic may end without the lock"
                                  : "others than the thread that has the lock may give it back";
            return st;
        }
    }
    if (st != GR_OK)
        return st;
    GrAnswer differ;
    st = may_differ(b, v, terms, o, got[0].at, got[1].at, &differ, err);
    if (st == GR_OK && differ == GR_ANSWER_NO)
        v->decision = GR_PROVED;
    else
        v->missing = "the two threads may hold locks at different addresses";
    return st;
}

static gr_status by_flag(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o,
                         gr_error *err) {
    gr_status st = GR_OK;
    for (unsigned k = 0; k < 2 && st == GR_OK && v->decision != GR_PROVED; k++) {
        const GrKernelAccess *first = v->sides[k]->a, *second = v->sides[!k]->a;
        Half set = find_release(first, v->level), got = find_acquire(second, v->level, false);
        if (!first->writes || !set.at || !got.at)
            continue;
        GrAnswer differ = GR_ANSWER_YES;
        bool one = false;
        if (set.flaw != SOUND || got.flaw != SOUND) {
            v->missing = text_of(set.flaw != SOUND ? set.flaw : got.flaw);
            continue;
        }
        bool waits = false;
        st = may_differ(b, v, terms, o, k ? got.at : set.at, k ? set.at : got.at, &differ, err);
        if (st == GR_OK && differ == GR_ANSWER_NO)
            st = is_sound_wait(b, got.at, v->level, &waits, err);
        if (st == GR_OK && waits)
            st = flag_is_of_one_thread(b, set.at, &one, err);
        if (one)
            v->decision = GR_PROVED;
        else
            v->missing = differ != GR_ANSWER_NO
                             ? "the flag that is set and the flag that is waited for may be different ones"
                         : !waits ? "the loop that waits for the flag may end while the flag is 0"
                                  : "more than one thread or place may set the flag";
    }
    return st;
}

gr_status gr_locks_decide(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o,
                          gr_error *err) {
    bool tried = false;
    if (v->kind == GR_RACE_SCOPE || v->kind == GR_RACE_SIZE)
        return GR_OK;
    gr_status st = by_lock(b, v, terms, o, &tried, err);
    return st != GR_OK || tried ? st : by_flag(b, v, terms, o, err);
}
