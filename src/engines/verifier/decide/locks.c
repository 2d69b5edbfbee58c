// SPDX-License-Identifier: Apache-2.0
// locks — HGRD's section 6.5 and appendix A.2, and narrower. A lock is an atomic that a loop repeats until it has the
// lock, then a fence; and behind the access a fence, then a store or atomic to the same place. A flag is the second
// half around the writer and a wait and a fence before the other side. The scope is the narrowest of the parts.
//
// A proof by a lock needs that two threads never have it at once. The loop must end only when the atomic returned the
// value that means free, and the atomic must have written another value then. Every other write that may touch the lock
// must be made once by a thread that has the lock, in the round in which that thread took it: such a write gives the
// lock back. Then the lock excludes other threads, whatever it held in the beginning. A proof by a flag needs that one
// thread sets the flag, once, that no loop that waits for the flag ends while it is 0, and that the host has made it 0
// before this launch (host/zero.c). Everything else that looks like a lock or a flag is no proof: possible.
#include "engines/verifier/decide/locks.h"

#include "engines/verifier/decide/generations.h"
#include "engines/verifier/decide/leader.h"
#include "engines/verifier/decide/waits.h"

#include <stdlib.h>

// The atomic that took the lock held at the access, if any: no atomic that is surely passed has written since.
static const GrSync *taken_before(const GrKernelAccess *a) {
    for (size_t k = a->before.len; k-- > 0;) {
        const GrSync *s = a->before.data[k];
        if (!s->is_fence && (s->is_cas || s->is_exch || s->is_write))
            return gr_wait_takes(s) ? s : NULL;
    }
    return NULL;
}

// What the access waited for: a lock (`lock`), or a flag.
static GrHalf find_acquire(const GrKernelAccess *a, GrLevel level, bool lock) {
    bool fence = false, narrow = false;
    for (size_t k = a->before.len; k-- > 0;) {
        const GrSync *s = a->before.data[k];
        if (s->is_fence) {
            fence |= gr_scope_covers(s->scope, level);
            narrow |= !gr_scope_covers(s->scope, level);
        } else if (lock ? s == taken_before(a) : s->spins && s->is_read)
            return gr_half_of(s, gr_wait_acquires(s), fence, narrow, level);
    }
    return (GrHalf){NULL, GR_FLAW_NONE};
}

static GrHalf find_release(const GrKernelAccess *a, GrLevel level) {
    bool fence = false, narrow = false;
    for (size_t k = 0; k < a->behind.len; k++) {
        const GrSync *s = a->behind.data[k];
        if (s->is_fence) {
            fence |= gr_scope_covers(s->scope, level);
            narrow |= !gr_scope_covers(s->scope, level);
        } else if (!s->spins && (s->is_exch || s->is_write))
            return gr_half_of(s, gr_wait_releases(s), fence, narrow, level);
    }
    return (GrHalf){NULL, GR_FLAW_NONE};
}

// ---- Addresses ------------------------------------------------------------------------------------------------------

static const GrTerm *offset_of(GrBound *b, const GrSync *s, uint32_t thread, GrLevel level) {
    const GrTerm *o = gr_bound_term(b, s->offset);
    return o ? gr_term_of_thread(b->t, o, thread, level == GR_LEVEL_BLOCKS) : NULL;
}

// *out: while the two conflict, the places of x in thread 1 and y in thread 2 may differ.
static gr_status may_differ(GrBound *b, const GrVerdict *v, const GrTermVec *terms, const GrOverlap *o,
                            const GrSync *x, const GrSync *y, bool *out, gr_error *err) {
    *out = true;
    if (!x->object || x->object != y->object || x->object->kind == GR_OBJECT_UNKNOWN ||
        (x->object->kind == GR_OBJECT_SHARED && v->level == GR_LEVEL_BLOCKS)) // each block has its own
        return GR_OK;
    return gr_wait_may_differ(b, terms, o, offset_of(b, x, 1, v->level), offset_of(b, y, 2, v->level), out,
                              err);
}

// ---- Who else writes the lock or the flag ---------------------------------------------------------------------------

static bool is_behind(const GrKernelAccess *a, const GrSync *s) {
    for (size_t k = 0; k < a->behind.len; k++)
        if (a->behind.data[k] == s)
            return true;
    return false;
}

// The write gives back the lock that its thread has, in the round in which it was taken, and no other write does.
static bool gives_back(const GrBound *b, const GrKernelAccess *x) {
    const GrSync *taken = taken_before(x);
    if (!taken || taken->object != x->object || taken->offset != x->offset || x->loop != taken->round ||
        !gr_wait_same_width(taken->access, x))
        return false;
    for (size_t k = 0; k < b->accesses.len; k++) {
        const GrKernelAccess *y = b->accesses.data[k].a;
        if (y != x && y->writes && y->sync && !gr_wait_takes(y->sync) && y->object == x->object &&
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
    *out = gr_wait_free_value(b, taken, &value) && gr_loop_is_within(a->loop, taken->round);
    for (size_t k = 0; k < b->accesses.len && *out && st == GR_OK; k++) {
        const GrBoundAccess *x = &b->accesses.data[k];
        const GrSync *s = x->a->sync;
        if (!x->a->writes || !gr_wait_may_meet(b, x, taken))
            continue;
        if (s && gr_wait_takes(s)) {
            st = gr_wait_is_sound(b, s, level, out, err);
            *out = *out && gr_wait_free_value(b, s, &other) && other == value &&
                   gr_wait_same_width(s->access, taken->access);
        } else {
            *out = s && gives_back(b, x->a) && (taken_before(x->a) != taken || is_behind(a, s));
        }
    }
    return st;
}

// The flag is not set when the kernel begins.
static bool begins_unset(const GrBound *b, const GrSync *set) {
    return b->accesses.data[set->access->id].memory.zero;
}

// One instruction sets the flag, once, and never for two threads the same one.
static gr_status flag_is_of_one_thread(GrBound *b, const GrSync *set, bool *yes, gr_error *err) {
    const GrBoundAccess *flag = NULL;
    gr_status st = GR_OK;
    *yes = true;
    for (size_t k = 0; k < b->accesses.len; k++) {
        const GrBoundAccess *x = &b->accesses.data[k];
        if (!x->a->writes || x->a->keeps || !gr_wait_may_meet(b, x, set))
            continue;
        if (flag || x->a->sync != set || x->a->loop)
            *yes = false;
        flag = x;
    }
    *yes = *yes && flag;
    static const GrLevel levels[] = {GR_LEVEL_ANY_WARP, GR_LEVEL_BLOCKS};
    for (unsigned k = 0; k < 2 && *yes && st == GR_OK; k++) {
        bool own = levels[k] == GR_LEVEL_BLOCKS;
        const GrTerm *guards[] = {gr_term_of_thread(b->t, flag->guard, 1, own),
                                  gr_term_of_thread(b->t, flag->guard, 2, own)};
        const GrOverlap o = {gr_term_of_thread(b->t, flag->offset, 1, own),
                             gr_term_of_thread(b->t, flag->offset, 2, own), flag->a->size, flag->a->size};
        st = gr_pair_never(b, levels[k], guards, 2, &o, yes, err);
    }
    return st;
}

// ---- Both -----------------------------------------------------------------------------------------------------------

static gr_status by_lock(GrBound *b, GrVerdict *v, const GrTermVec *terms, const GrOverlap *o, bool *tried,
                         gr_error *err) {
    GrHalf got[2], gave[2];
    for (unsigned k = 0; k < 2; k++) {
        got[k] = find_acquire(v->sides[k]->a, v->level, true);
        gave[k] = find_release(v->sides[k]->a, v->level);
        if (!got[k].at || !gave[k].at)
            return GR_OK;
    }
    *tried = true;
    gr_status st = GR_OK;
    for (unsigned k = 0; k < 2 && st == GR_OK; k++) {
        GrFlaw flaw = got[k].flaw != GR_SOUND ? got[k].flaw : gave[k].flaw;
        bool same = got[k].at->object == gave[k].at->object && got[k].at->offset == gave[k].at->offset &&
                    gr_wait_same_width(got[k].at->access, gave[k].at->access),
             over = gr_wait_is_over(v->sides[k]->a, got[k].at), waits = false, alone = false;
        st = gr_wait_is_sound(b, got[k].at, v->level, &waits, err);
        if (st == GR_OK)
            st = excludes(b, v->sides[k]->a, got[k].at, v->level, &alone, err);
        if (flaw != GR_SOUND || !same || !over || !waits || !alone) {
            v->missing =
                flaw != GR_SOUND ? gr_flaw_text(flaw)
                : !same ? "what is released behind the access is not the lock that was taken before it"
                : !over
                    ? "the access is in the loop that takes the lock, and happens before the thread has it"
                : !waits ? "the loop around the atomic may end without the lock"
                         : "others than the thread that has the lock may give it back";
            return st;
        }
    }
    if (st != GR_OK)
        return st;
    bool differ;
    st = may_differ(b, v, terms, o, got[0].at, got[1].at, &differ, err);
    if (st == GR_OK && !differ)
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
        GrHalf set = find_release(first, v->level), got = find_acquire(second, v->level, false);
        if (!first->writes || !set.at || !got.at)
            continue;
        bool differ = true, one = false;
        if (set.flaw != GR_SOUND || got.flaw != GR_SOUND) {
            v->missing = gr_flaw_text(set.flaw != GR_SOUND ? set.flaw : got.flaw);
            continue;
        }
        if (!gr_wait_is_over(second, got.at)) {
            v->missing = "the access is in the loop that waits for the flag, and happens before it is set";
            continue;
        }
        bool waits = false;
        st = may_differ(b, v, terms, o, k ? got.at : set.at, k ? set.at : got.at, &differ, err);
        differ = differ || !gr_wait_same_width(set.at->access, got.at->access);
        if (st == GR_OK && !differ)
            st = gr_wait_is_sound(b, got.at, v->level, &waits, err);
        if (st == GR_OK && waits)
            st = flag_is_of_one_thread(b, set.at, &one, err);
        if (one && begins_unset(b, set.at))
            v->decision = GR_PROVED;
        else
            v->missing = one ? gr_flag_may_be_set
                         : differ
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
    if (st == GR_OK && !tried)
        st = gr_leader_decide(b, v, terms, o, &tried, err);
    if (st == GR_OK && !tried)
        st = gr_generations_decide(b, v, terms, o, &tried, err);
    return st != GR_OK || tried ? st : by_flag(b, v, terms, o, err);
}
