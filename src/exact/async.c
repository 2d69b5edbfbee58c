// SPDX-License-Identifier: Apache-2.0
// async — asynchronous operations and mbarriers.
//
// An operation knows what its issuer knew when it was issued, and is unordered with everything else until a wait for its group or
// for the phase of the mbarrier it completes on. What has been waited for is known to the waiter as the operation's thread.
#include "exact/order_internal.h"

#include <stdlib.h>
#include <string.h>

enum { READ_EPOCH = 1, WRITE_EPOCH = 2, KINDS = 2 };

void gr_order_op_free(Op *op) {
    for (uint32_t l = 0; l < LANES; l++) {
        gr_clock_release(op->base[l]);
        gr_clock_release(op->proxied[l]);
    }
    free(op);
}

Op *gr_order_op(const Block *b, uint64_t number) {
    for (size_t k = b->ops.len; k-- > 0;)
        if (b->ops.data[k]->number == number)
            return b->ops.data[k];
    return NULL;
}

static unsigned kind_of(VmCompletion c) { return c == VM_COMPLETES_BULK; }

static uint32_t *groups_of(Order *o, Warp *w, unsigned kind) {
    if (!w->groups)
        w->groups = calloc(KINDS, sizeof *w->groups);
    o->nomem |= !w->groups;
    return w->groups ? w->groups[kind] : NULL;
}

static void issue(Order *o, Block *b, Warp *w, const VmAsyncEvent *e) {
    BlockInfo info = *gr_order_info(o, b->id);
    info.ragged = false;
    uint32_t *groups = groups_of(o, w, kind_of(e->completes));
    Op *op = calloc(1, sizeof *op);
    if (!op || !groups || !(op->id = gr_order_new_id(o, &info)) || !gr_vec_push(&b->ops, op)) {
        free(op);
        o->nomem = true;
        return;
    }
    op->number = e->op;
    op->proxy = e->proxy;
    op->completes = e->completes;
    op->warp = w->index;
    op->mask = e->where.mask;
    op->floor = b->floor;
    op->even = true;
    memcpy(op->group, groups, sizeof op->group);
    for (uint32_t m = op->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        op->epoch[l] = w->epoch[l];
        op->base[l] = gr_order_base(b, w, l);
        op->even &= op->base[l] == op->base[__builtin_ctz(op->mask)];
        if (op->proxy == VM_PROXY_ASYNC && w->sync[l])
            op->proxied[l] = gr_clock_retain(w->sync[l]->proxied);
    }
    gr_order_bump(o, b, w, op->mask);
}

static void commit(Order *o, Warp *w, const VmAsyncEvent *e) {
    uint32_t *groups = groups_of(o, w, kind_of(e->completes));
    for (uint32_t m = groups ? e->where.mask : 0; m; m &= m - 1)
        groups[__builtin_ctz(m)]++;
}

static bool waits_for_all(const VmAsyncEvent *e) {
    return e->where.stmt && gr_ptx_instr_has(e->where.stmt->instr, PTX_MOD_wait_all);
}

// The lanes of `mask` whose group of `op` the wait covers.
static uint32_t covers(const VmAsyncEvent *e, const Op *op, const uint32_t *groups, bool all) {
    uint32_t lanes = 0;
    for (uint32_t m = e->where.mask & op->mask & ~op->waited; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (all || (uint64_t)op->group[l] + e->count < groups[l])
            lanes |= UINT32_C(1) << l;
    }
    return lanes;
}

static void keep_copy(Order *o, Warp *w, const Op *op) {
    if (op->completes != VM_COMPLETES_GROUP)
        return;
    if (!w->copies && !(w->copies = calloc(1, sizeof *w->copies))) {
        o->nomem = true;
        return;
    }
    uint32_t at = w->copies->n++ % WAITED_COPIES;
    w->copies->copy[at].id = op->id;
    w->copies->copy[at].number = op->number;
    w->copies->copy[at].mask = op->mask;
}

static void wait_for_groups(Order *o, Block *b, Warp *w, const VmAsyncEvent *e) {
    uint32_t *groups = groups_of(o, w, kind_of(e->completes)),
             epoch = e->read_only ? READ_EPOCH : WRITE_EPOCH;
    bool all = waits_for_all(e);
    size_t kept = 0;
    for (size_t k = 0; groups && k < b->ops.len; k++) {
        Op *op = b->ops.data[k];
        uint32_t lanes =
            op->warp == w->index && op->completes == e->completes ? covers(e, op, groups, all) : 0;
        Waited done = {op->id, lanes, epoch};
        if (lanes && !gr_vec_push(&w->waited, done))
            o->nomem = true;
        if (!e->read_only)
            op->waited |= lanes;
        if (op->waited == op->mask) {
            keep_copy(o, w, op);
            gr_order_op_free(op);
        } else {
            b->ops.data[kept++] = op;
        }
    }
    if (groups)
        b->ops.len = kept;
    o->version++;
}

// ---- mbarriers -----------------------------------------------------------------------------------------------------

static Mbar *mbar_at(Order *o, Block *b, uint64_t at) {
    for (size_t k = 0; k < b->mbars.len; k++)
        if (b->mbars.data[k].at == at)
            return &b->mbars.data[k];
    Mbar m = {.at = at};
    if (!gr_vec_push(&b->mbars, m)) {
        o->nomem = true;
        return NULL;
    }
    return &b->mbars.data[b->mbars.len - 1];
}

// What an operation that completes on the barrier did, or all cp.async of the lane up to it.
static void op_arrives(Mbar *m, const Block *b, const VmAsyncEvent *e) {
    uint32_t l = (uint32_t)__builtin_ctz(e->where.mask);
    for (size_t k = 0; k < b->ops.len; k++) {
        const Op *op = b->ops.data[k];
        bool counts = e->kind == VM_MBAR_TX ? op->number == e->op
                                            : op->number <= e->op && op->completes == VM_COMPLETES_GROUP;
        if (counts && op->warp == e->where.warp && op->mask >> l & 1)
            gr_clock_add(&m->now_ops, key_of(BY_THREAD, op->id, op->warp, l), WRITE_EPOCH);
    }
    const WaitedCopies *c = e->kind == VM_MBAR_TX ? NULL : b->warps[e->where.warp].copies;
    for (uint32_t k = 0; c && k < c->n && k < WAITED_COPIES; k++)
        if (c->copy[k].number <= e->op && c->copy[k].mask >> l & 1)
            gr_clock_add(&m->now_ops, key_of(BY_THREAD, c->copy[k].id, e->where.warp, l), WRITE_EPOCH);
}

static void done_by_mbarrier(Block *b, const VmAsyncEvent *e) {
    for (size_t k = 0; k < b->ops.len; k++) {
        Op *op = b->ops.data[k];
        if (op->number != e->op)
            continue;
        op->waited |= e->where.mask;
        if (op->waited == op->mask) {
            gr_order_op_free(op);
            b->ops.data[k] = b->ops.data[--b->ops.len];
        }
        return;
    }
}

static void arrive(Order *o, Block *b, Warp *w, uint64_t owner, Mbar *m, const VmAsyncEvent *e) {
    if (e->op) {
        op_arrives(m, b, e);
        done_by_mbarrier(b, e);
        return;
    }
    PlaceOp op = {gr_place(owner, e->bar, 0), e->sem, e->scope};
    for (uint32_t k = e->where.mask; k; k &= k - 1)
        gr_order_release(o, b, w, (uint32_t)__builtin_ctz(k), &op, &m->now);
}

static void clear_mbar(Mbar *m) {
    gr_sources_clear(&m->now);
    gr_sources_clear(&m->over);
    gr_clock_take(&m->now_ops, NULL);
    gr_clock_take(&m->over_ops, NULL);
}

// Of operations everybody learns who is told of the phase, at any scope.
static void told(Order *o, Block *b, Warp *w, uint64_t owner, Mbar *m, const VmAsyncEvent *e) {
    PlaceOp op = {gr_place(owner, e->bar, 0), e->sem, e->scope};
    for (uint32_t k = e->where.mask; k; k &= k - 1)
        gr_order_acquire(o, b, w, (uint32_t)__builtin_ctz(k), &op, &m->over, m->over_ops);
}

static void mbarrier(Order *o, Block *b, Block *owner, const VmAsyncEvent *e) {
    Warp *w = &b->warps[e->where.warp];
    Mbar *m = mbar_at(o, owner, e->bar);
    if (!m)
        return;
    switch (e->kind) {
    case VM_MBAR_INIT:
    case VM_MBAR_INVAL: clear_mbar(m); break;
    case VM_MBAR_ARRIVE:
    case VM_MBAR_DROP: arrive(o, b, w, owner->id, m, e); break;
    case VM_MBAR_TX:
        if (e->op) {
            op_arrives(m, b, e);
            done_by_mbarrier(b, e);
        }
        break;
    case VM_MBAR_PHASE:
        gr_sources_clear(&m->over);
        m->over = m->now;
        m->now = (Sources){0};
        gr_clock_take(&m->over_ops, m->now_ops);
        m->now_ops = NULL;
        break;
    case VM_MBAR_WAIT: told(o, b, w, owner->id, m, e); break;
    default: break;
    }
}

void gr_order_async(Order *o, Block *b, const VmAsyncEvent *e) {
    Warp *w = &b->warps[e->where.warp];
    Block *owner;
    switch (e->kind) {
    case VM_ASYNC_ISSUE: issue(o, b, w, e); break;
    case VM_ASYNC_COMMIT: commit(o, w, e); break;
    case VM_ASYNC_WAIT: wait_for_groups(o, b, w, e); break;
    case VM_ASYNC_READ:
    case VM_ASYNC_WRITE: break;
    default:
        owner = gr_order_block(b->launch, e->bar_block);
        if (owner)
            mbarrier(o, b, owner, e);
    }
}
