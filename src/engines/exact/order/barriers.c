// SPDX-License-Identifier: Apache-2.0
// barriers — what threads learn of each other where they meet: bar.warp.sync, bar and barrier, barrier.cluster.
#include "engines/exact/order/order_internal.h"

#include <string.h>

// ---- bar.warp.sync -------------------------------------------------------------------------------------------------

static __attribute__((noinline)) void sync_lanes(Order *o, Block *b, Warp *w, uint32_t mask) {
    // All lanes of the mask learn what some know through groups outside of the mask, and what some imported.
    Clock *learnt = gr_order_flush_waited(b, w, mask);
    gr_order_add_waited(&learnt, b, w, mask);
    Clock *last = NULL;
    for (uint32_t m = w->own & mask ? mask : 0; m; m &= m - 1) {
        Clock *c = imports_of(b, w, (uint32_t)__builtin_ctz(m));
        if (c != last)
            gr_clock_merge(&learnt, c);
        last = c;
    }
    uint32_t n = 0;
    for (uint32_t g = 0; g < w->n_groups; g++) {
        WarpGroup x = w->group[g];
        if (x.floor > b->floor && (x.mask & mask) && (x.mask & ~mask) && (mask & ~x.mask))
            for (uint32_t m = x.mask & ~mask; m; m &= m - 1)
                gr_clock_add(&learnt, key_of(BY_THREAD, b->id, w->index, (uint32_t)__builtin_ctz(m)),
                             x.floor);
        if (x.floor > b->floor && (x.mask & ~mask))
            w->group[n++] = x;
    }
    w->n_groups = n;
    gr_order_learn(o, b, w, mask, learnt);
    gr_clock_release(learnt);
    uint32_t top = 0;
    for (uint32_t m = mask; m; m &= m - 1)
        top = w->epoch[__builtin_ctz(m)] > top ? w->epoch[__builtin_ctz(m)] : top;
    if (w->n_groups < WARP_GROUPS)
        w->group[w->n_groups++] = (WarpGroup){mask, top};
    else {
        Clock *c = gr_order_snapshots(b, w, mask);
        gr_order_learn(o, b, w, mask, c);
        gr_clock_release(c);
    }
    gr_order_bump(o, b, w, mask);
}

// ---- bar, barrier --------------------------------------------------------------------------------------------------

static void note_exit(Order *o, Block *b, Warp *w, uint32_t lanes) {
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        // The value 0 would read as absent.
        if (!gr_map_put_u64(&o->exits, key_of(BY_THREAD, b->id, w->index, l),
                            (void *)((uintptr_t)b->floor + 1)))
            o->nomem = true;
        gr_clock_merge(&b->left, imports_of(b, w, l));
    }
    w->exited |= lanes;
    b->ragged = gr_order_own_info(o, b->id)->ragged = true;
}

// What the lanes that take part know, through groups of their warp, of lanes that have exited: the floor does not cover
// these.
static Clock *of_exited(const Block *b, const Phase *p) {
    Clock *c = NULL;
    for (uint32_t k = 0; b->ragged && k < b->n_warps; k++) {
        const Warp *w = &b->warps[k];
        for (uint32_t g = 0; g < w->n_groups; g++) {
            const WarpGroup *x = &w->group[g];
            for (uint32_t m = x->mask & p->arrived[k] && x->floor > b->floor ? x->mask & w->exited : 0; m;
                 m &= m - 1)
                gr_clock_add(&c, key_of(BY_THREAD, b->id, k, (uint32_t)__builtin_ctz(m)), x->floor);
        }
    }
    return c;
}

// Every thread of the block that has not exited took part: they learn of each other.
static __attribute__((noinline)) void sync_block(Order *o, Block *b, const Phase *p) {
    bool plain = true;
    Clock *waited = NULL;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        Warp *w = &b->warps[k];
        if (w->waited.len) {
            Clock *whole = gr_order_flush_waited(b, w, p->arrived[k]);
            gr_clock_merge(&waited, whole);
            gr_clock_release(whole);
        }
        uint32_t gone = w->exists & ~w->exited & ~p->arrived[k];
        if (gone)
            note_exit(o, b, w, gone);
        plain &= !w->own && !w->has_imp;
    }
    if (b->copies && !b->ragged)
        b->copied = gr_order_all_waited(b);
    for (uint32_t k = 0; k < b->n_warps && b->copies; k++)
        gr_order_add_waited(&waited, b, &b->warps[k], p->arrived[k]);
    Clock *besides = of_exited(b, p);
    gr_clock_merge(&besides, waited);
    gr_clock_release(waited);
    plain &= !besides;
    Clock *base = plain ? NULL : gr_clock_retain(b->base), *last = NULL;
    for (uint32_t k = 0; k < b->n_warps && !plain; k++) {
        Warp *w = &b->warps[k];
        for (uint32_t m = p->arrived[k]; m; m &= m - 1) {
            Clock *c = imports_of(b, w, (uint32_t)__builtin_ctz(m));
            if (c != last)
                gr_clock_merge(&base, c);
            last = c;
            if (!w->own)
                break;
        }
    }
    gr_clock_merge(&base, besides);
    gr_clock_release(besides);
    if (!plain)
        gr_clock_take(&b->base, base);
    b->floor = b->safe = b->epoch;
    for (size_t k = 0; k < b->ops.len; k++)
        b->safe = b->ops.data[k]->floor < b->safe ? b->ops.data[k]->floor : b->safe;
    uint32_t e = ++b->epoch;
    o->nomem |= e == UINT32_MAX;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        Warp *w = &b->warps[k];
        if (w->own)
            gr_order_forget_lanes(w);
        if (w->imp)
            gr_clock_take(&w->imp, NULL);
        w->has_imp = false;
        w->n_groups = 0;
        w->even = p->arrived[k] == w->exists ? e : 0;
        if (!w->exited)
            for (uint32_t l = 0; l < LANES; l++)
                w->epoch[l] = w->learnt_in[l] = e;
        else
            for (uint32_t m = p->arrived[k]; m; m &= m - 1)
                w->epoch[__builtin_ctz(m)] = w->learnt_in[__builtin_ctz(m)] = e;
    }
    o->version++;
}

static __attribute__((noinline)) void open_phase(Phase *p) {
    gr_clock_take(&p->clock, NULL);
    memset(p->arrived, 0, sizeof p->arrived);
    p->open = true;
    p->partial = false;
}

// Lanes arrive at a barrier that does not await all threads of the block.
static __attribute__((noinline)) void arrive_partly(Order *o, Block *b, Warp *w, Phase *p, uint32_t mask) {
    Clock *c = gr_order_snapshots(b, w, mask);
    gr_clock_merge(&p->clock, c);
    gr_clock_release(c);
    gr_order_bump(o, b, w, mask);
    p->partial = true;
}

static void barrier_arrive(Order *o, Block *b, Warp *w, const VmSyncEvent *e) {
    Phase *p = &b->barrier[e->barrier % BARRIERS];
    if (!p->open || p->complete)
        open_phase(p);
    p->complete = e->last;
    if (!e->count || (e->count >= b->launch->threads && e->waits))
        p->arrived[w->index] |= e->where.mask;
    else
        arrive_partly(o, b, w, p, e->where.mask);
}

static bool all_arrived(const Block *b, const Phase *p) {
    for (uint32_t k = 0; k < b->n_warps; k++)
        if (b->warps[k].exists & ~b->warps[k].exited & ~p->arrived[k])
            return false;
    return true;
}

bool gr_order_loses_exited(const Block *b, const VmSyncEvent *e) {
    const Phase *p = &b->barrier[e->barrier % BARRIERS];
    if (e->kind != VM_SYNC_BARRIER_RELEASE || !p->open || p->partial)
        return false;
    for (uint32_t k = 0; k < b->n_warps; k++)
        if (b->warps[k].exists & ~p->arrived[k])
            return true;
    return false;
}

// Closes the phase as its first thread leaves. `count`: as in the event.
static __attribute__((noinline)) void close_phase(Order *o, Block *b, Phase *p, uint32_t count) {
    p->open = false;
    if (!p->partial && (!count || all_arrived(b, p))) {
        sync_block(o, b, p);
        return;
    }
    for (uint32_t k = 0; k < b->n_warps; k++) {
        if (!p->arrived[k])
            continue;
        Clock *c = gr_order_snapshots(b, &b->warps[k], p->arrived[k]);
        gr_clock_merge(&p->clock, c);
        gr_clock_release(c);
        gr_order_bump(o, b, &b->warps[k], p->arrived[k]);
    }
    p->partial = true;
}

static void barrier_release(Order *o, Block *b, Warp *w, const VmSyncEvent *e) {
    Phase *p = &b->barrier[e->barrier % BARRIERS];
    if (p->open)
        close_phase(o, b, p, e->count);
    if (p->partial)
        gr_order_learn(o, b, w, e->where.mask, p->clock);
}

// ---- barrier.cluster -----------------------------------------------------------------------------------------------

static ClusterPhase *cluster_phase(Order *o, uint64_t cluster, uint32_t phase) {
    for (size_t k = 0; k < o->phases.len; k++)
        if (o->phases.data[k].cluster == cluster && o->phases.data[k].phase == phase)
            return &o->phases.data[k];
    ClusterPhase p = {.cluster = cluster, .phase = phase};
    if (!gr_vec_push(&o->phases, p)) {
        o->nomem = true;
        return NULL;
    }
    return &o->phases.data[o->phases.len - 1];
}

void gr_order_drop_phase(Order *o, size_t k) {
    gr_sources_clear(&o->phases.data[k].sources);
    gr_clock_release(o->phases.data[k].met);
    o->phases.data[k] = o->phases.data[--o->phases.len];
}

// A thread that arrives by s goes on to wait at once.
static bool waits_next(const PtxStmt *s) {
    for (s = s ? s->next : NULL; s; s = s->next) {
        if (s->tag.inserted || s->kind == PTX_LOC || s->kind == PTX_LABEL_DEF || s->kind == PTX_SCOPE_OPEN ||
            s->kind == PTX_SCOPE_CLOSE)
            continue;
        return s->kind == PTX_INSTR && s->instr->op == PTX_OP_BARRIER && !s->instr->guard &&
               gr_ptx_instr_has(s->instr, PTX_MOD_cluster) && gr_ptx_instr_has(s->instr, PTX_MOD_wait);
    }
    return false;
}

bool gr_order_cluster_meets(Order *o, const Block *b, const VmSyncEvent *e) {
    ClusterPhase *p = e->kind == VM_SYNC_CLUSTER_RELEASE ? cluster_phase(o, b->cluster, e->barrier) : NULL;
    bool first = p && !p->over;
    if (first)
        p->over = true;
    return first && p->arrived == (uint64_t)gr_cluster_size(b->launch) * b->launch->threads;
}

static __attribute__((noinline)) void cluster_arrive(Order *o, Block *b, Warp *w, const VmSyncEvent *e) {
    // No thread can still wait for the phase before the last.
    for (size_t k = o->phases.len; k-- > 0;)
        if (o->phases.data[k].cluster == b->cluster && o->phases.data[k].phase + 2 <= e->barrier)
            gr_order_drop_phase(o, k);
    ClusterPhase *p = cluster_phase(o, b->cluster, e->barrier);
    if (!p)
        return;
    if (e->sem == PTX_RELAXED) { // only fences carry anything
        for (uint32_t m = e->where.mask; m; m &= m - 1) {
            PlaceOp op = {0, PTX_RELAXED, PTX_SCOPE_CLUSTER};
            gr_order_release(o, b, w, (uint32_t)__builtin_ctz(m), &op, &p->sources);
        }
        Clock *done = gr_order_snapshots(b, w, e->where.mask);
        gr_clock_merge(&p->met, done);
        gr_clock_release(done);
        gr_order_bump(o, b, w, e->where.mask);
        return;
    }
    p->arrived += waits_next(e->where.stmt) ? (uint64_t)__builtin_popcount(e->where.mask) : 0;
    Clock *c = gr_order_snapshots(b, w, e->where.mask);
    gr_sources_add(o, &p->sources, b, PTX_SCOPE_CLUSTER, c);
    gr_clock_release(c);
    gr_order_bump(o, b, w, e->where.mask);
}

static __attribute__((noinline)) void cluster_wait(Order *o, Block *b, Warp *w, const VmSyncEvent *e) {
    ClusterPhase *p = cluster_phase(o, b->cluster, e->barrier);
    for (unsigned k = 0; p && k <= SAME_CLUSTER; k++)
        gr_order_learn(o, b, w, e->where.mask, gr_sources_of(o, &p->sources, b, k));
    if (p && p->met)
        gr_clock_merge(&b->met, p->met);
}

// griddepcontrol.wait: the lanes learn what the launch did not know at its beginning, the launches before it in its
// stream.
static __attribute__((noinline)) void grid_wait(Order *o, Block *b, Warp *w, uint32_t mask) {
    gr_order_learn(o, b, w, mask, b->launch->prior);
}

// ---- Events --------------------------------------------------------------------------------------------------------

void gr_order_sync(Order *o, Block *b, const VmSyncEvent *e) {
    Warp *w = &b->warps[e->where.warp];
    switch (e->kind) {
    case VM_SYNC_WARP:
        // The VM sends one event for each place that lanes met from; no thread does anything in between.
        if (e->where.mask >> __builtin_ctz(e->barrier) & 1)
            sync_lanes(o, b, w, e->barrier);
        break;
    case VM_SYNC_BARRIER_ARRIVE: barrier_arrive(o, b, w, e); break;
    case VM_SYNC_BARRIER_RELEASE: barrier_release(o, b, w, e); break;
    case VM_SYNC_CLUSTER_ARRIVE: cluster_arrive(o, b, w, e); break;
    case VM_SYNC_CLUSTER_RELEASE: cluster_wait(o, b, w, e); break;
    case VM_SYNC_FENCE: gr_order_fence(o, b, w, e->where.mask, e->sem, e->scope); break;
    case VM_SYNC_FENCE_PROXY: gr_order_fence_proxy(o, b, w, e); break;
    case VM_SYNC_GRID_WAIT: grid_wait(o, b, w, e->where.mask); break;
    }
}
