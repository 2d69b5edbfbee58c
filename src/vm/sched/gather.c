// SPDX-License-Identifier: Apache-2.0
// gather — lanes that only the device parted meet again before an instruction that shows which lanes are together.
//
// Hardware does not part a converged warp. So a program may ask, with activemask or with a shuffle whose mask leaves
// lanes out, which lanes run together, and get all of them. The device parts warps before memory accesses (hooks.c) and
// does not wait at rejoin points for ever (split.c). Lanes parted so are kin (VmSplit.kin). At such an instruction a
// split waits for its kin as long as they can still come: until each is there, waits for something else, or has exited.
#include "vm/core/exec.h"
#include "vm/core/warp.h"
#include "vm/sched/ready.h"

enum { PATIENCE_MIN = 1024 };

// Moves the splits that wait at join b, and the joins inside it, to join a.
static void move_join(VmWarpRest *r, VmJoin *a, VmJoin *b) {
    b->refs++;
    for (uint32_t s = 0; s < r->n_splits; s++) {
        for (VmJoin *j = r->splits[s].top; j; j = j->parent)
            if (j->parent == b) {
                j->parent = a;
                a->refs++;
                b->refs--;
            }
        if (r->splits[s].top == b) {
            r->splits[s].top = a;
            a->refs++;
            b->refs--;
        }
    }
    a->expected |= b->expected;
    a->arrived |= b->arrived;
    gr_vm_join_unref(r, b);
}

// Lanes that took one branch after they had been parted have two joins for one place. Makes these one, so that they
// meet there with all lanes that took the other side. False: the joins are of different places.
static bool unify(VmWarpRest *r, VmJoin *a, VmJoin *b) {
    if (a == b)
        return true;
    if (!a || !b || a->pc != b->pc || a->act != b->act || !unify(r, a->parent, b->parent))
        return false;
    move_join(r, a, b);
    return true;
}

static bool waits_with(const VmSplit *p, const VmSplit *q) {
    return p->state == VM_SPLIT_GATHER && gr_vm_same_place(p, q);
}

static uint32_t lanes_in(const VmWarpRest *r, VmSplitState a, VmSplitState b) {
    uint32_t m = 0;
    for (uint32_t s = 0; s < r->n_splits; s++)
        if (r->splits[s].state == a || r->splits[s].state == b)
            m |= r->splits[s].mask;
    return m;
}

// Split s and all that wait at the same instruction go on together. Kin that did not come are kin no more, as the
// program parted them; except those that wait elsewhere for these.
static void meet(VmWarpRest *r, uint32_t s) {
    const VmSplit key = r->splits[s];
    for (uint32_t k = 0; k < r->n_splits; k++)
        if (waits_with(&r->splits[k], &key)) {
            gr_vm_unify_calls(r, &key, &r->splits[k]);
            unify(r, key.top, r->splits[k].top);
            split_set_state(r, k, VM_SPLIT_READY);
        }
    uint32_t waiting = lanes_in(r, VM_SPLIT_GATHER, VM_SPLIT_GATHER);
    for (uint32_t k = 0; k < r->n_splits; k++)
        if (r->splits[k].pc == key.pc && r->splits[k].act == key.act) {
            r->splits[k].kin &= waiting;
            r->splits[k].gathered = key.pc;
        }
    gr_vm_merge_ready(r);
}

static uint32_t depth(const VmActivation *a) {
    uint32_t n = 0;
    for (; a; a = a->caller)
        n++;
    return n;
}

// The program comes to where p waits before it comes to where q does, as far as one can tell.
static bool is_before(const VmSplit *p, const VmSplit *q) {
    uint32_t a = depth(p->act), b = depth(q->act);
    return a != b ? a > b : p->pc < q->pc;
}

static bool any_gathers(const VmWarpRest *r) {
    for (uint32_t s = 0; s < r->n_splits; s++)
        if (r->splits[s].state == VM_SPLIT_GATHER)
            return true;
    return false;
}

bool gr_vm_gather_settle(VmWarpRest *r) {
    if (!any_gathers(r))
        return false;
    uint32_t coming = lanes_in(r, VM_SPLIT_READY, VM_SPLIT_SLEEP), first = UINT32_MAX;
    for (uint32_t s = 0; s < r->n_splits; s++) {
        const VmSplit *p = &r->splits[s];
        if (p->state == VM_SPLIT_GATHER && (!(p->kin & coming) || r->executed >= p->until) &&
            (first == UINT32_MAX || is_before(p, &r->splits[first])))
            first = s;
    }
    if (first == UINT32_MAX)
        return false;
    if (r->splits[first].kin & coming && r->gather_patience > PATIENCE_MIN)
        r->gather_patience /= 2;
    meet(r, first);
    return true; // splits have moved, and may come to where others wait
}

bool gr_vm_gathers(VmWarp *w, const VmInsn *i) {
    VmWarpRest *r = rest_of(w);
    VmSplit *p = split_of(w);
    if (i->tagged || p->gathered == i || !(p->kin & r->live)) {
        p->gathered = NULL;
        return false;
    }
    p->pc = i;
    p->until = r->executed + r->gather_patience;
    split_set_state(r, r->cur, VM_SPLIT_GATHER);
    gr_vm_gather_settle(r);
    w->stop = VM_STOP_WAIT;
    return true;
}
