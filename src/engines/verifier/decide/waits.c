// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/decide/waits.h"

#include <stdlib.h>
#include <string.h>

bool gr_wait_acquires(const GrSync *s) {
    return s->sem == PTX_ACQUIRE || s->sem == PTX_ACQ_REL || s->sem == PTX_SC;
}
bool gr_wait_releases(const GrSync *s) {
    return s->sem == PTX_RELEASE || s->sem == PTX_ACQ_REL || s->sem == PTX_SC;
}

// How good `at` is with the fences that were met on the way to it.
GrHalf gr_half_of(const GrSync *at, bool orders, bool fence, bool narrow_fence, GrLevel level) {
    GrHalf h = {at, GR_SOUND};
    if (!gr_scope_covers(at->scope, level))
        h.flaw = GR_FLAW_NARROW;
    else if (!orders && !fence)
        h.flaw = narrow_fence ? GR_FLAW_NARROW : GR_FLAW_NO_FENCE;
    return h;
}

// ---- Waiting --------------------------------------------------------------------------------------------------------

bool gr_wait_takes(const GrSync *s) { return s->spins && (s->is_cas || s->is_exch); }

// What a free lock holds: the CAS's compare value; 0 for an exchange. False: not known, or taking does not change it.
bool gr_wait_free_value(GrBound *b, const GrSync *s, uint64_t *value) {
    const GrTerm *compare = gr_bound_term(b, s->access->compare), *swap = gr_bound_term(b, s->access->swap);
    if (!swap || swap->op != GR_TERM_CONST || (s->is_cas && (!compare || compare->op != GR_TERM_CONST)))
        return false;
    *value = s->is_cas ? compare->value : 0;
    return swap->value != *value;
}

// *out: the loop cannot end while a thread has `not_yet`. The wait is for no address, so its arithmetic is not trusted.
static gr_status ends_only_then(GrBound *b, const GrSync *s, GrLevel level, const GrTerm *not_yet, bool *out,
                                gr_error *err) {
    const GrTerm *until = gr_bound_term(b, s->until);
    const GrTerm *both =
        until && not_yet ? gr_term_of_thread(b->t, gr_and(b->t, until, not_yet), 1, level == GR_LEVEL_BLOCKS)
                         : NULL;
    bool before = b->wraps;
    b->wraps = true;
    gr_status st = gr_pair_never(b, level, &both, 1, NULL, out, err);
    b->wraps = before;
    return st;
}

// *out: a thread that leaves the loop has the lock; or the flag that it waited for was set.
gr_status gr_wait_is_sound(GrBound *b, const GrSync *s, GrLevel level, bool *out, gr_error *err) {
    bool blocks = level == GR_LEVEL_BLOCKS, lock = gr_wait_takes(s);
    uint64_t value = 0;
    *out = false;
    for (size_t k = 0; k < b->waits.len; k++)
        if (b->waits.data[k].sync == s && b->waits.data[k].blocks == blocks) {
            *out = b->waits.data[k].sound;
            return GR_OK;
        }
    const GrTerm *result = gr_bound_term(b, s->result);
    if (!s->until || !result || (lock && !gr_wait_free_value(b, s, &value)))
        return GR_OK;
    const GrTerm *same = gr_term_2(b->t, GR_TERM_EQ, result, gr_term_const(b->t, result->bits, value));
    gr_status st = ends_only_then(b, s, level, lock ? gr_not(b->t, same) : same, out, err);
    const GrWait known = {s, blocks, *out};
    if (st == GR_OK)
        (void)gr_vec_push(&b->waits, known); // else it is asked again
    return st;
}

bool gr_wait_is_over(const GrKernelAccess *a, const GrSync *s) {
    return !gr_loop_is_within(a->loop, s->wait);
}

gr_status gr_wait_may_hold(GrBound *b, const GrTermVec *terms, const GrOverlap *o, const GrTerm *more,
                           bool *may, gr_error *err) {
    GrSolved s = {0};
    GrTermVec all = {0};
    bool ok = more && gr_vec_push(&all, more);
    for (size_t k = 0; ok && k < terms->len; k++)
        ok = gr_vec_push(&all, terms->data[k]);
    gr_status st = ok ? gr_pair_solve(b, &all, o, true, &s, err) : gr_no_memory(err);
    *may = st != GR_OK || s.answer != GR_ANSWER_NO;
    gr_solved_free(&s);
    gr_vec_free(&all);
    return st;
}

gr_status gr_wait_may_differ(GrBound *b, const GrTermVec *terms, const GrOverlap *o, const GrTerm *mine,
                             const GrTerm *other, bool *differ, gr_error *err) {
    return gr_wait_may_hold(b, terms, o, gr_not(b->t, gr_term_2(b->t, GR_TERM_EQ, mine, other)), differ, err);
}

// ---- One thread for its block ---------------------------------------------------------------------------------------

typedef struct Replaced {
    const GrOther *other;
    bool own; // the term has other symbols of the thread's own
} Replaced;

static const GrTerm *other_has(void *user, GrTerms *t, const GrSymbol *s) {
    Replaced *r = user;
    const GrOther *o = r->other;
    if (o->result && s == o->result)
        return o->fresh;
    if (o->number != GR_ANY_THREAD && s->kind == GR_SYM_SPECIAL && !strncmp(s->name, "%tid.", 5))
        return gr_term_const(t, s->bits, s->name[5] == 'x' ? o->number : 0);
    r->own |= s->scope == GR_SYM_THREAD && (!o->loop || s != o->loop->counter);
    return NULL;
}

const GrTerm *gr_wait_term_of(GrBound *b, const GrTerm *a, const GrOther *other, uint32_t thread) {
    Replaced r = {other, false};
    const GrTerm *of = a ? gr_term_replace(b->t, a, &(GrReplace){other_has, NULL, &r}) : NULL;
    return of && !r.own ? gr_term_of_thread(b->t, of, thread, true) : NULL;
}

// The place in the list, or its length.
static size_t place_of(GrSync *const *list, size_t n, const GrSync *s) {
    size_t k = 0;
    while (k < n && list[k] != s)
        k++;
    return k;
}

// Looks among list[from] to list[to - 1] for a fence that includes both blocks.
static GrHalf look_for_fence(GrSync *const *list, size_t from, size_t to, const GrSync *at, bool orders) {
    bool fence = false, narrow = false;
    for (size_t k = from; k < to; k++)
        if (list[k]->is_fence) {
            fence |= gr_scope_covers(list[k]->scope, GR_LEVEL_BLOCKS);
            narrow |= !gr_scope_covers(list[k]->scope, GR_LEVEL_BLOCKS);
        }
    return gr_half_of(at, orders, fence, narrow, GR_LEVEL_BLOCKS);
}

bool gr_wait_barrier_behind(const GrKernelAccess *take, const GrKernelAccess *a, GrFlaw *flaw) {
    for (size_t k = 0; k < take->behind.len; k++) {
        const GrSync *s = take->behind.data[k];
        if (!s->barrier || place_of(a->before.data, a->before.len, s) == a->before.len)
            continue;
        *flaw = look_for_fence(take->behind.data, 0, k, take->sync, gr_wait_acquires(take->sync)).flaw;
        return true;
    }
    return false;
}

bool gr_wait_barrier_before(const GrKernelAccess *give, const GrKernelAccess *a, GrFlaw *flaw) {
    for (size_t k = give->before.len; k-- > 0;) {
        const GrSync *s = give->before.data[k];
        if (!s->barrier || place_of(a->behind.data, a->behind.len, s) == a->behind.len)
            continue;
        *flaw = look_for_fence(give->before.data, k + 1, give->before.len, give->sync,
                               gr_wait_releases(give->sync))
                    .flaw;
        return true;
    }
    return false;
}

bool gr_wait_same_width(const GrKernelAccess *x, const GrKernelAccess *y) {
    return x->size == y->size && x->unit == y->unit;
}

bool gr_wait_may_meet(GrBound *b, const GrBoundAccess *x, const GrSync *s) {
    StrBuf why = {0};
    GrAlias alias = gr_bound_alias(b, &x->memory, &b->accesses.data[s->access->id].memory, &why);
    gr_str_free(&why);
    return alias != GR_ALIAS_APART;
}

const char gr_flag_may_be_set[] =
    "the flag may be set when the kernel begins: nothing that the host is seen to do before "
    "this launch makes it 0";

const char *gr_flaw_text(GrFlaw f) {
    return f == GR_FLAW_NO_FENCE
               ? "there is a lock or flag, but no fence between it and the access"
               : "there is a lock or flag, but its scope or that of its fence does not include the "
                 "other thread";
}
