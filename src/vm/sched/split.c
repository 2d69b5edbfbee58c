// SPDX-License-Identifier: Apache-2.0
// split — how the lanes of a warp part and meet again.
//
// Lanes that part at a branch share a join: the place where they are expected to meet, and which lanes are expected. A
// split that gets there waits, but only as long as its siblings' patience budget lasts. Then it leaves the list and
// goes on alone, to the next join out. So lanes converge where it costs nothing, and progress never depends on that: a
// thread that spins on a lock which a waiting sibling holds will get it. Patience halves every time it was in vain,
// down to a floor, so that 32 lanes that take turns in a lock do not wait long for each other.
#include "vm/core/block.h"
#include "vm/core/exec.h"
#include "vm/core/tell.h"
#include "vm/core/warp.h"
#include "vm/sched/ready.h"
#include "vm/sched/stuck.h"

#include <string.h>

enum { PATIENCE_MIN = 32, PATIENCE_MAX = 1024 };

// ---- Splits ------------------------------------------------------------------------------------------------

void gr_vm_split_set_state(VmWarpRest *r, uint32_t s, VmSplitState state) { split_set_state(r, s, state); }

// Takes the lanes `mask` out of split `s` into a new one that is otherwise the same. Returns its number.
static uint32_t split_off(VmWarpRest *r, uint32_t s, uint32_t mask) {
    uint32_t n = r->n_splits++;
    r->splits[n] = r->splits[s];
    gr_vm_seen_too(r, s, n);
    r->splits[n].mask = mask;
    r->splits[n].window = 0;
    r->splits[s].mask &= ~mask;
    if (r->splits[n].top)
        r->splits[n].top->refs++;
    count_state(r, r->splits[n].state, 1);
    return n;
}

// Removes split number s; the last split takes its number.
static void split_remove(VmWarpRest *r, uint32_t s) {
    VmSplit *p = &r->splits[s];
    gr_vm_close_window(r, p);
    count_state(r, p->state, -1);
    if (p->top)
        gr_vm_join_unref(r, p->top);
    uint32_t last = --r->n_splits;
    if (s != last) {
        *p = r->splits[last];
        gr_vm_seen_too(r, last, s);
        if (r->cur == last)
            r->cur = s;
    }
    warp_moved(r);
}

// ---- Joins -------------------------------------------------------------------------------------------------

// Drops one reference; NULL is none.
void gr_vm_join_unref(VmWarpRest *r, VmJoin *j) {
    while (j && --j->refs == 0) {
        VmJoin *parent = j->parent;
        j->parent = r->free_joins;
        r->free_joins = j;
        j = parent;
    }
}

// The split's top becomes its parent.
static void pop_join(VmWarpRest *r, VmSplit *p) {
    VmJoin *j = p->top;
    p->top = j->parent;
    if (p->top)
        p->top->refs++;
    gr_vm_join_unref(r, j);
}

static void push_join(VmWarpRest *r, uint32_t s, const VmInsn *rejoin) {
    VmSplit *p = &r->splits[s];
    VmActivation *act = p->act;
    if (!rejoin) {
        if (!act->caller)
            return;
        rejoin = act->ret;
        act = act->caller;
    }
    if (p->top && p->top->pc == rejoin && p->top->act == act)
        return;
    VmJoin *j = r->free_joins;
    if (!j)
        return; // no split waits then: only convergence is lost
    r->free_joins = j->parent;
    *j = (VmJoin){.pc = rejoin, .act = act, .parent = p->top, .expected = p->mask, .refs = 1};
    p->top = j; // the reference to the old top is now the join's
}

// All lanes that are still expected at j have arrived: they are one split from here on.
static void complete_join(VmWarpRest *r, VmJoin *j) {
    uint32_t first = UINT32_MAX;
    j->refs++;
    for (uint32_t s = 0; s < r->n_splits;) {
        VmSplit *p = &r->splits[s];
        if (p->state != VM_SPLIT_JOIN || p->top != j) {
            s++;
            continue;
        }
        if (first == UINT32_MAX) {
            first = s++;
            continue;
        }
        r->splits[first].kin = gr_vm_common_kin(&r->splits[first], p);
        r->splits[first].mask |= p->mask;
        split_remove(r, s);
    }
    if (first != UINT32_MAX) {
        pop_join(r, &r->splits[first]);
        split_set_state(r, first, VM_SPLIT_READY);
    }
    gr_vm_join_unref(r, j);
    r->patience = r->patience * 2 > PATIENCE_MAX ? PATIENCE_MAX : r->patience * 2;
}

static void check_join(VmWarpRest *r, VmJoin *j) {
    if (j->arrived && !(j->expected & ~j->arrived))
        complete_join(r, j);
}

void gr_vm_leave_joins(VmWarpRest *r, VmJoin *from, const VmJoin *until, uint32_t lanes) {
    // A join may complete, which frees it: hold it while it is looked at.
    VmJoin *j = from;
    while (j && j != until) {
        j->refs++;
        j->expected &= ~lanes;
        j->arrived &= ~lanes;
        check_join(r, j);
        VmJoin *parent = j->parent;
        gr_vm_join_unref(r, j);
        j = parent;
    }
}

VM_HANDLER(gr_vm_x_rejoin) {
    if (__builtin_expect(w->join != i, 1))
        return i + 1;
    VmWarpRest *r = rest_of(w);
    VmSplit *p = split_of(w);
    VmJoin *j = p->top;
    if (j->act != p->act)
        return i + 1;                // a deeper recursion passes here
    if (!(j->expected & ~p->mask)) { // no other lane is expected
        pop_join(r, p);
        w->join = p->top ? p->top->pc : NULL;
        return i;
    }
    j->arrived |= p->mask;
    p->pc = i;
    p->until = r->executed + r->patience;
    split_set_state(r, r->cur, VM_SPLIT_JOIN);
    check_join(r, j);
    w->stop = VM_STOP_WAIT;
    return NULL;
}

// Split s goes on without the others that are expected at j, which hardware would not let it.
static void part_from(VmWarpRest *r, uint32_t s, const VmJoin *j) {
    for (uint32_t k = 0; k < r->n_splits; k++)
        if (k != s && r->splits[k].mask & j->expected) {
            r->splits[k].kin |= r->splits[s].mask;
            r->splits[s].kin |= r->splits[k].mask;
        }
}

bool gr_vm_joins_expire(VmWarpRest *r, bool all) {
    bool any = gr_vm_gather_settle(r);
    for (uint32_t s = 0; s < r->n_splits; s++) {
        VmSplit *p = &r->splits[s];
        if (p->state != VM_SPLIT_JOIN || (!all && r->executed < p->until))
            continue;
        VmJoin *j = p->top;
        uint32_t lanes = p->mask;
        j->refs++;
        part_from(r, s, j);
        pop_join(r, p);
        split_set_state(r, s, VM_SPLIT_READY);
        j->expected &= ~lanes;
        j->arrived &= ~lanes;
        check_join(r, j); // may remove splits: the scan sees the rest next time
        gr_vm_join_unref(r, j);
        r->patience = r->patience / 2 < PATIENCE_MIN ? PATIENCE_MIN : r->patience / 2;
        any = true;
    }
    return any;
}

// ---- Parting and merging -----------------------------------------------------------------------------------

const VmInsn *gr_vm_diverge(VmWarp *w, uint32_t mask, const VmInsn *pc, const VmInsn *rest_pc,
                            const VmInsn *rejoin) {
    VmWarpRest *r = rest_of(w);
    push_join(r, r->cur, rejoin);
    uint32_t n = split_off(r, r->cur, mask);
    r->splits[n].pc = pc;
    r->splits[r->cur].pc = rest_pc;
    w->stop = VM_STOP_SWITCH;
    return NULL;
}

static bool is_ancestor(const VmJoin *a, const VmJoin *of) {
    for (; of; of = of->parent)
        if (of == a)
            return true;
    return a == NULL;
}

// Merges ready splits at the same place. Their join is the innermost that both have.
void gr_vm_merge_ready(VmWarpRest *r) {
    for (uint32_t a = 0; a < r->n_splits; a++) {
        if (r->splits[a].state != VM_SPLIT_READY)
            continue;
        for (uint32_t b = a + 1; b < r->n_splits;) {
            VmSplit *x = &r->splits[a], *y = &r->splits[b];
            if (y->state != VM_SPLIT_READY || !gr_vm_same_place(x, y)) {
                b++;
                continue;
            }
            gr_vm_unify_calls(r, x, y);
            gr_vm_close_window(r, x); // y's closes as it goes
            VmJoin *common = x->top;
            while (!is_ancestor(common, y->top))
                common = common->parent;
            VmJoin *xt = x->top, *yt = y->top;
            uint32_t xm = x->mask, ym = y->mask;
            if (common)
                common->refs++;
            x->top = common;
            x->kin = gr_vm_common_kin(x, y);
            x->mask |= ym;
            y->top = NULL;
            split_remove(r, b);
            // Completing a join merges and removes waiting splits: positions change, so start over.
            gr_vm_leave_joins(r, xt, common, xm);
            gr_vm_leave_joins(r, yt, common, ym);
            gr_vm_join_unref(r, xt);
            gr_vm_join_unref(r, yt);
            gr_vm_merge_ready(r);
            return;
        }
    }
}

// ---- The end of lanes --------------------------------------------------------------------------------------

// Ends lanes of the running split. The split goes away when none is left.
void gr_vm_lanes_exit(VmWarp *w, uint32_t lanes) {
    VmWarpRest *r = rest_of(w);
    if (r->holding & lanes)
        gr_vm_settle_loads(r, lanes, lanes);
    VmBlock *b = r->block;
    VmCluster *c = b->cluster;
    VmSplit *p = split_of(w);
    for (VmActivation *a = p->act; a;) {
        VmActivation *caller = a->caller;
        a->lanes &= ~lanes;
        if (!a->lanes && caller)
            gr_vm_activation_free(r->launch, a);
        a = caller;
    }
    VmJoin *top = p->top;
    if (top)
        top->refs++;
    p->mask &= ~lanes;
    if (!p->mask)
        split_remove(r, r->cur);
    gr_vm_leave_joins(r, top, NULL, lanes);
    gr_vm_join_unref(r, top);
    r->live &= ~lanes;
    b->live_threads -= count_lanes(lanes);
    gr_vm_cluster_exit(r, lanes);
    if (!r->live)
        b->live_warps--;
    else
        gr_vm_collective_recheck(r);
    if (!b->live_warps)
        gr_vm_block_end(b);
    else
        gr_vm_barrier_recheck(b);
    gr_vm_cluster_recheck(c);
}
