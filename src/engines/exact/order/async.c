// SPDX-License-Identifier: Apache-2.0
// async — asynchronous operations and mbarriers.
//
// An operation knows what its issuer knew when it was issued, and is unordered with everything else until a wait for
// its group or for the phase of the mbarrier it completes on. What has been waited for is known to the waiter as the
// operation's thread.
#include "engines/exact/order/order_internal.h"

#include <stdlib.h>
#include <string.h>

enum { READ_EPOCH = 1, WRITE_EPOCH = 2, KINDS = 2 };

void gr_order_op_free(Order *o, Op *op) {
    for (uint32_t l = 0; l < (op->even ? 1 : LANES); l++)
        gr_clock_take(&op->base[l], NULL);
    for (uint32_t l = 0; l < LANES && op->proxy == VM_PROXY_ASYNC; l++)
        gr_clock_take(&op->proxied[l], NULL);
    op->next_free = o->free_ops;
    o->free_ops = op;
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

// Takes an op without clocks; its other fields are not set. NULL: out of memory.
static Op *take_op(Order *o) {
    Op *op = o->free_ops;
    if (!op)
        return calloc(1, sizeof *op);
    o->free_ops = op->next_free;
    return op;
}

// The number of the operation's block instance; 0: out of memory.
static uint64_t id_for(Order *o, Block *b, const VmAsyncEvent *e) {
    BlockInfo info = *gr_order_info(o, b->id);
    info.ragged = false;
    info.copies = e->completes == VM_COMPLETES_GROUP;
    if (!info.copies)
        return gr_order_new_id(o, &info);
    if (!b->copies)
        b->copies = gr_order_new_id(o, &info);
    return b->copies;
}

// Sets what the operation knows to what its lanes know as they issue it.
static void set_known(Block *b, Warp *w, Op *op) {
    uint32_t first = (uint32_t)__builtin_ctz(op->mask);
    op->floor = b->floor;
    op->copied = b->copied;
    op->least_epoch = op->least_waited = UINT32_MAX;
    op->even = true;
    memcpy(op->epoch, w->epoch, sizeof op->epoch);
    memcpy(op->waited_to, w->waited_to, sizeof op->waited_to);
    for (uint32_t m = op->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        op->least_epoch = op->epoch[l] < op->least_epoch ? op->epoch[l] : op->least_epoch;
        op->least_waited = op->waited_to[l] < op->least_waited ? op->waited_to[l] : op->least_waited;
        if (op->proxy == VM_PROXY_ASYNC && w->sync[l])
            op->proxied[l] = gr_clock_retain(w->sync[l]->proxied);
        op->base[l] = gr_order_others(b, w, l);
        op->even &= op->base[l] == op->base[first];
    }
    if (!op->even)
        return;
    Clock *base = op->base[first];
    for (uint32_t m = op->mask & (op->mask - 1); m; m &= m - 1)
        gr_clock_take(&op->base[__builtin_ctz(m)], NULL);
    op->base[first] = NULL;
    op->base[0] = base;
}

// Notes the cp.async that lanes issue together: threads wait for those of one group together.
static void note_copy(Order *o, Block *b, Warp *w, const Op *op) {
    uint32_t number = (uint32_t)op->number;
    o->nomem |= op->number >= UINT32_MAX;
    b->issued = number;
    for (uint32_t left = op->mask, same; left; left &= ~same) {
        uint32_t group = op->group[__builtin_ctz(left)];
        same = 0;
        for (uint32_t m = left; m; m &= m - 1)
            same |= op->group[__builtin_ctz(m)] == group ? m & -m : 0;
        CopyGroup *last = w->copies.len ? &w->copies.data[w->copies.len - 1] : NULL;
        CopyGroup fresh = {same, group, number, number};
        if (last && last->mask == same && last->group == group)
            last->last = number;
        else if (!gr_vec_push(&w->copies, fresh))
            o->nomem = true;
    }
}

static void issue(Order *o, Block *b, Warp *w, const VmAsyncEvent *e) {
    uint32_t *groups = groups_of(o, w, kind_of(e->completes));
    Op *op = groups ? take_op(o) : NULL;
    uint64_t id = op ? id_for(o, b, e) : 0;
    if (!id || !gr_vec_push(&b->ops, op)) {
        free(op);
        o->nomem = true;
        return;
    }
    op->id = id;
    op->number = e->op;
    op->proxy = e->proxy;
    op->completes = e->completes;
    op->warp = w->index;
    op->mask = e->where.mask;
    op->waited = op->written = 0;
    memcpy(op->group, groups, sizeof op->group);
    set_known(b, w, op);
    if (op->completes == VM_COMPLETES_GROUP)
        note_copy(o, b, w, op);
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

// The lanes of `mask` whose group the wait covers.
static uint32_t covers(const VmAsyncEvent *e, uint32_t mask, const uint32_t group[LANES],
                       const uint32_t *groups, bool all) {
    uint32_t lanes = 0;
    for (uint32_t m = e->where.mask & mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (all || (uint64_t)group[l] + e->count < groups[l])
            lanes |= UINT32_C(1) << l;
    }
    return lanes;
}

// Notes a wait for cp.async: a thread waits for all that it has issued up to some time.
static void wait_for_copies(Warp *w, const VmAsyncEvent *e, const uint32_t *groups, bool all) {
    size_t kept = 0;
    for (size_t k = 0; k < w->copies.len; k++) {
        CopyGroup *c = &w->copies.data[k];
        for (uint32_t m = c->mask & e->where.mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            if (!all && (uint64_t)c->group + e->count >= groups[l])
                continue;
            w->waited_to[l] = c->last;
            c->mask &= ~(m & -m);
        }
        if (c->mask)
            w->copies.data[kept++] = *c;
    }
    w->copies.len = kept;
    w->least_waited = UINT32_MAX;
    for (uint32_t m = w->exists; m; m &= m - 1) {
        uint32_t to = w->waited_to[__builtin_ctz(m)];
        w->least_waited = to < w->least_waited ? to : w->least_waited;
        w->has_waited |= to != 0;
    }
}

uint32_t gr_order_all_waited(const Block *b) {
    uint32_t to = b->issued;
    for (uint32_t k = 0; k < b->n_warps; k++)
        for (size_t n = 0; n < b->warps[k].copies.len; n++)
            if (b->warps[k].copies.data[n].first <= to)
                to = b->warps[k].copies.data[n].first - 1;
    return to;
}

static void wait_for_bulk(Order *o, Block *b, Warp *w, const VmAsyncEvent *e, const uint32_t *groups) {
    uint32_t epoch = e->read_only ? READ_EPOCH : WRITE_EPOCH;
    size_t kept = 0;
    for (size_t k = 0; k < b->ops.len; k++) {
        Op *op = b->ops.data[k];
        bool mine = op->warp == w->index && op->completes == VM_COMPLETES_BULK;
        uint32_t lanes = mine ? covers(e, op->mask & ~op->waited, op->group, groups, waits_for_all(e)) : 0;
        Waited done = {op->id, lanes, epoch};
        if (lanes && !gr_vec_push(&w->waited, done))
            o->nomem = true;
        if (!e->read_only)
            op->waited |= lanes;
        if (op->waited == op->mask)
            gr_order_op_free(o, op);
        else
            b->ops.data[kept++] = op;
    }
    b->ops.len = kept;
}

static void wait_for_groups(Order *o, Block *b, Warp *w, const VmAsyncEvent *e) {
    const uint32_t *groups = groups_of(o, w, kind_of(e->completes));
    if (groups && e->completes == VM_COMPLETES_GROUP)
        wait_for_copies(w, e, groups, waits_for_all(e));
    else if (groups)
        wait_for_bulk(o, b, w, e, groups);
    o->version++;
}

static void drop_op(Order *o, Block *b, size_t k) {
    gr_order_op_free(o, b->ops.data[k]);
    b->ops.data[k] = b->ops.data[--b->ops.len];
}

// The lanes of a cp.async have written: what they knew is not needed any more.
static void written(Order *o, Block *b, const VmAsyncEvent *e) {
    for (size_t k = b->ops.len; k-- > 0;) {
        Op *op = b->ops.data[k];
        if (op->number != e->op)
            continue;
        op->written |= e->where.mask;
        if (op->completes == VM_COMPLETES_GROUP && op->written == op->mask)
            drop_op(o, b, k);
        return;
    }
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

// The cp.async of the lanes of m->last become part of what completed on the barrier.
static void settle_copies(Mbar *m) {
    uint32_t mask = m->last.mask;
    if (mask == m->last.exists && mask)
        gr_clock_add(&m->now_ops, key_of(BY_WARP, m->last.id, m->last.warp, 0), m->last.number);
    else
        for (; mask; mask &= mask - 1)
            gr_clock_add(&m->now_ops,
                         key_of(BY_THREAD, m->last.id, m->last.warp, (uint32_t)__builtin_ctz(mask)),
                         m->last.number);
    m->last.mask = 0;
}

// All cp.async of the lanes up to that number have completed on the barrier.
static void copies_arrive(Mbar *m, const Block *b, const VmAsyncEvent *e) {
    const Warp *w = &b->warps[e->where.warp];
    if (!b->copies)
        return;
    if (m->last.id != b->copies || m->last.warp != w->index || m->last.number != (uint32_t)e->op)
        settle_copies(m);
    m->last.id = b->copies;
    m->last.warp = w->index;
    m->last.exists = w->exists;
    m->last.number = (uint32_t)e->op;
    m->last.mask |= e->where.mask;
}

// Adds what an operation that completes on the barrier did.
static void op_arrives(Order *o, Mbar *m, Block *b, const VmAsyncEvent *e) {
    for (size_t k = 0; k < b->ops.len; k++) {
        Op *op = b->ops.data[k];
        if (op->number != e->op)
            continue;
        for (uint32_t l = e->where.mask & op->mask; l; l &= l - 1)
            gr_clock_add(&m->now_ops, key_of(BY_THREAD, op->id, op->warp, (uint32_t)__builtin_ctz(l)),
                         WRITE_EPOCH);
        op->waited |= e->where.mask;
        if (op->waited == op->mask)
            drop_op(o, b, k);
        return;
    }
}

static void arrive(Order *o, Block *b, Warp *w, uint64_t owner, Mbar *m, const VmAsyncEvent *e) {
    if (e->op) {
        copies_arrive(m, b, e);
        return;
    }
    PlaceOp op = {gr_place(owner, e->bar, 0), e->sem, e->scope};
    bool visits = owner != b->id;
    Clock *done = visits ? gr_order_snapshots(b, w, e->where.mask) : NULL;
    for (uint32_t k = e->where.mask; k; k &= k - 1)
        gr_order_release(o, b, w, (uint32_t)__builtin_ctz(k), &op, &m->now);
    if (!visits)
        return;
    gr_clock_merge(&m->now_met, done);
    gr_clock_release(done);
    gr_order_bump(o, b, w, e->where.mask);
}

// Notes that lanes of another block are about to arrive.
static void note_arrival(Order *o, const Block *b, Block *owner, const VmAsyncEvent *e) {
    const Warp *w = &b->warps[e->where.warp];
    for (uint32_t m = e->where.mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        Arrival now = {{b->id, w->epoch[l], b->launch->index, w->index}, l, e->where.stmt}, *last = NULL;
        for (size_t k = owner->arrivals.len; k-- > 0 && !last;) {
            Arrival *a = &owner->arrivals.data[k];
            if (a->at.id == now.at.id && a->at.warp == now.at.warp && a->lane == l && a->stmt == now.stmt)
                last = a;
        }
        if (last)
            *last = now;
        else if (!gr_vec_push(&owner->arrivals, now))
            o->nomem = true;
    }
}

void gr_mbar_clear(Mbar *m) {
    m->last.mask = 0;
    gr_sources_clear(&m->now);
    gr_sources_clear(&m->over);
    gr_clock_take(&m->now_ops, NULL);
    gr_clock_take(&m->over_ops, NULL);
    gr_clock_take(&m->now_met, NULL);
    gr_clock_take(&m->over_met, NULL);
}

// All threads that are told of the phase learn of its operations, at any scope.
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
    case VM_MBAR_INVAL: gr_mbar_clear(m); break;
    case VM_MBAR_ARRIVE:
    case VM_MBAR_DROP:
        if (owner != b && !e->op)
            note_arrival(o, b, owner, e);
        arrive(o, b, w, owner->id, m, e);
        break;
    case VM_MBAR_TX:
        if (e->op)
            op_arrives(o, m, b, e);
        break;
    case VM_MBAR_PHASE:
        settle_copies(m);
        gr_sources_clear(&m->over);
        m->over = m->now;
        m->now = (Sources){0};
        gr_clock_take(&m->over_ops, m->now_ops);
        m->now_ops = NULL;
        gr_clock_take(&m->over_met, m->now_met);
        m->now_met = NULL;
        break;
    case VM_MBAR_WAIT:
        told(o, b, w, owner->id, m, e);
        if (m->over_met)
            gr_clock_merge(&b->met, m->over_met);
        break;
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
    case VM_ASYNC_WRITE: written(o, b, e); break;
    case VM_ASYNC_READ: break;
    default:
        owner = gr_order_block(b->launch, e->bar_block);
        if (owner)
            mbarrier(o, b, owner, e);
    }
}
