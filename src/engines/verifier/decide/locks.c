// SPDX-License-Identifier: Apache-2.0
// locks — HGRD's section 6.5 and appendix A.2, and narrower. A lock is an atomic that a loop repeats until it has the lock, then a fence; and behind the
// access a fence, then a store or atomic to the same place. A flag is the second half around the writer and a wait and a fence before the
// other side. The scope is the narrowest of the parts.
//
// What is no proof: a lock that something else of the kernel writes too, or releases elsewhere; a flag that two threads may set, or one in a loop.
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

typedef struct Waits {
    const GrTerm *result;
    bool other;
} Waits;

typedef struct Sought {
    const GrSymbol *s;
    bool found;
} Sought;

static void compare(void *user, const GrSymbol *s) {
    Sought *x = user;
    x->found |= x->s == s;
}

static void see_cause(void *user, const GrSymbol *s) {
    Waits *w = user;
    Sought x = {.s = s};
    if (s->kind != GR_SYM_COUNTER && s->kind != GR_SYM_FREE)
        return;
    w->other |= !gr_term_symbols(w->result, compare, &x) || !x.found;
}

// Whether nothing but what it returned ends its loop: not a count of attempts, nor another value.
static bool waits(const GrSync *s) {
    Waits w = {.result = s->result};
    return s->spins && s->until && s->result && gr_term_symbols(s->until, see_cause, &w) && !w.other;
}

// What the access waited for: a lock (`lock`), or a flag.
static Half find_acquire(const GrKernelAccess *a, GrLevel level, bool lock) {
    bool fence = false, narrow = false;
    for (size_t k = a->before.len; k-- > 0;) {
        const GrSync *s = a->before.data[k];
        if (s->is_fence) {
            fence |= covers(s->scope, level);
            narrow |= !covers(s->scope, level);
        } else if (waits(s) && (lock ? s->is_cas || s->is_exch : s->is_read))
            return half_of(s, acquires(s), fence, narrow, level);
        else if (lock && (s->is_write || s->is_exch)) // it may have been given back already
            return (Half){NULL, NONE};
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
    if (!x->object || x->object != y->object || x->object->kind == GR_OBJECT_UNKNOWN)
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

static bool has_sync(const GrSync *const *syncs, size_t n, const PtxStmt *stmt) {
    for (size_t k = 0; k < n; k++)
        if (syncs[k]->stmt == stmt)
            return true;
    return false;
}

#define IN(vec, stmt) has_sync((const GrSync *const *)(vec).data, (vec).len, stmt)

// Every write to the lock is its acquire or its release, and each release comes behind the access or before its lock was taken.
static bool lock_is_only_its_own(const GrBound *b, const GrKernelAccess *a, const GrSync *acquire) {
    for (size_t k = 0; k < b->model->accesses.len; k++) {
        const GrKernelAccess *x = b->model->accesses.data[k];
        bool may = x->object == acquire->object || x->object->kind == GR_OBJECT_UNKNOWN;
        if (!x->writes || !may)
            continue;
        if (!x->atomic && !x->strong)
            return false;
        if (x->stmt != acquire->stmt && !IN(a->behind, x->stmt) && !IN(a->before, x->stmt))
            return false;
    }
    return true;
}

// One instruction sets the flag, once, and never for two threads the same one. NULL in *flag: no.
static gr_status flag_is_of_one_thread(GrBound *b, const GrSync *set, bool *yes, gr_error *err) {
    const GrBoundAccess *flag = NULL;
    gr_status st = GR_OK;
    *yes = true;
    for (size_t k = 0; k < b->accesses.len; k++) {
        const GrBoundAccess *x = &b->accesses.data[k];
        if (!x->a->writes || (x->a->object != set->object && x->a->object->kind != GR_OBJECT_UNKNOWN))
            continue;
        if (flag || x->a->stmt != set->stmt || x->a->loop)
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
    for (unsigned k = 0; k < 2; k++) {
        Flaw flaw = got[k].flaw != SOUND ? got[k].flaw : gave[k].flaw;
        bool same = got[k].at->object == gave[k].at->object && got[k].at->offset == gave[k].at->offset;
        if (flaw != SOUND || !same || !lock_is_only_its_own(b, v->sides[k]->a, got[k].at)) {
            v->missing = flaw != SOUND ? text_of(flaw)
                         : !same
                             ? "what is released behind the access is not the lock that was taken before it"
                             : "the kernel writes the lock elsewhere, too";
            return GR_OK;
        }
    }
    GrAnswer differ;
    gr_status st = may_differ(b, v, terms, o, got[0].at, got[1].at, &differ, err);
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
        st = may_differ(b, v, terms, o, k ? got.at : set.at, k ? set.at : got.at, &differ, err);
        if (st == GR_OK && differ == GR_ANSWER_NO)
            st = flag_is_of_one_thread(b, set.at, &one, err);
        if (differ == GR_ANSWER_NO && one)
            v->decision = GR_PROVED;
        else
            v->missing = differ != GR_ANSWER_NO
                             ? "the flag that is set and the flag that is waited for may be different ones"
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
