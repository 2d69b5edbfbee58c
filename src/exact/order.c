// SPDX-License-Identifier: Apache-2.0
// order — threads and barriers. Launches and blocks are in launches.c, fences and strong operations in sync.c, asynchronous ones in
// async.c.
#include "exact/order_internal.h"

#include <stdlib.h>
#include <string.h>

// ---- Clocks in place -----------------------------------------------------------------------------------------------

void gr_clock_take(Clock **to, Clock *c) {
    gr_clock_release(*to);
    *to = c;
}

void gr_clock_add(Clock **to, uint64_t key, uint32_t v) { gr_clock_take(to, gr_clock_with(*to, key, v)); }

void gr_clock_merge(Clock **to, Clock *c) { gr_clock_take(to, gr_clock_join(*to, c)); }

// ---- What a thread knows -------------------------------------------------------------------------------------------

// What lanes know of operations they waited for goes into their clocks, before anything is done with these. Lanes of `together` are about
// to know all that the others do: operations of the whole warp are left to the caller, in what is returned.
static Clock *flush_waited(Block *b, Warp *w, uint32_t together) {
    Clock *all = NULL, *own[LANES] = {NULL};
    uint32_t some = 0;
    for (size_t k = 0; k < w->waited.len; k++) {
        const Waited *x = &w->waited.data[k];
        if (x->mask == w->exists && !(x->mask & ~together)) {
            gr_clock_add(&all, key_of(BY_WARP, x->id, w->index, 0), x->epoch);
            continue;
        }
        for (uint32_t m = x->mask; m; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m);
            gr_clock_add(&own[l], key_of(BY_THREAD, x->id, w->index, l), x->epoch);
            some |= m & -m;
        }
    }
    w->waited.len = 0;
    for (; some; some &= some - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(some);
        gr_order_learn(b->launch->order, b, w, some & -some, own[l]);
        gr_clock_release(own[l]);
    }
    return all;
}

static Clock *make_base(const Block *b, const Warp *w, Clock *imports, uint32_t lane) {
    Clock *c = gr_clock_retain(imports);
    if (b->floor)
        gr_clock_add(&c, key_of(BY_BLOCK, b->id, 0, 0), b->floor);
    for (uint32_t g = 0; g < w->n_groups; g++) {
        const WarpGroup *x = &w->group[g];
        if (!(x->mask >> lane & 1) || x->floor <= b->floor)
            continue;
        if (x->mask == w->exists)
            gr_clock_add(&c, key_of(BY_WARP, b->id, w->index, 0), x->floor);
        else
            for (uint32_t m = x->mask; m; m &= m - 1)
                gr_clock_add(&c, key_of(BY_THREAD, b->id, w->index, (uint32_t)__builtin_ctz(m)), x->floor);
    }
    return c;
}

// All lanes are in the same groups.
static bool groups_are_whole(const Block *b, const Warp *w) {
    for (uint32_t g = 0; g < w->n_groups; g++)
        if (w->group[g].mask != w->exists && w->group[g].floor > b->floor)
            return false;
    return true;
}

// What the lane knows of others. A reference of the caller's own.
Clock *gr_order_base(Block *b, Warp *w, uint32_t lane) {
    if (w->waited.len)
        (void)flush_waited(b, w, 0);
    Clock *imports = imports_of(b, w, lane);
    if (!groups_are_whole(b, w))
        return make_base(b, w, imports, lane);
    uint32_t top = 0;
    for (uint32_t g = 0; g < w->n_groups; g++)
        top = w->group[g].floor > top ? w->group[g].floor : top;
    if (!w->cached || w->cached_imp != imports || w->cached_floor != b->floor || w->cached_groups != top) {
        gr_clock_take(&w->cached, make_base(b, w, imports, lane));
        gr_clock_take(&w->cached_imp, gr_clock_retain(imports));
        w->cached_floor = b->floor;
        w->cached_groups = top;
    }
    return gr_clock_retain(w->cached);
}

// With its own past. A reference of the caller's own.
Clock *gr_order_snapshot(Block *b, Warp *w, uint32_t lane) {
    Clock *c = gr_order_base(b, w, lane);
    gr_clock_add(&c, key_of(BY_THREAD, b->id, w->index, lane), w->epoch[lane]);
    return c;
}

// The snapshots of several lanes together.
Clock *gr_order_snapshots(Block *b, Warp *w, uint32_t mask) {
    Clock *c = NULL;
    bool whole = mask == w->exists;
    uint32_t top = 0;
    Clock *last = NULL;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        Clock *base = gr_order_base(b, w, l);
        if (base != last)
            gr_clock_merge(&c, base);
        gr_clock_take(&last, base);
        top = w->epoch[l] > top ? w->epoch[l] : top;
        if (!whole)
            gr_clock_add(&c, key_of(BY_THREAD, b->id, w->index, l), w->epoch[l]);
    }
    gr_clock_release(last);
    if (whole)
        gr_clock_add(&c, key_of(BY_WARP, b->id, w->index, 0), top);
    return c;
}

void gr_order_bump(Order *o, Block *b, Warp *w, uint32_t mask) {
    uint32_t e = ++b->epoch;
    o->nomem |= e == UINT32_MAX;
    for (uint32_t m = mask; m; m &= m - 1)
        w->epoch[__builtin_ctz(m)] = e;
    w->even = mask == w->exists ? e : 0;
    o->version++;
}

void gr_order_forget_lanes(Warp *w) {
    for (uint32_t m = w->own; m; m &= m - 1)
        gr_clock_take(&w->lane_imp[__builtin_ctz(m)], NULL);
    w->own = 0;
}

// The lanes of `mask` learn c.
void gr_order_learn(Order *o, Block *b, Warp *w, uint32_t mask, Clock *c) {
    if (!c || !mask)
        return;
    o->version++;
    if (mask == w->exists && !w->own) {
        Clock *now = gr_clock_join(w->has_imp ? w->imp : b->base, c);
        gr_clock_take(&w->imp, now);
        w->has_imp = true;
        return;
    }
    Clock *from = NULL, *to = NULL; // the last join, since lanes are much alike
    bool one = true;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        Clock *before = gr_clock_retain(imports_of(b, w, l));
        if (m == mask || before != from) {
            one &= m == mask;
            gr_clock_take(&to, gr_clock_join(before, c));
            gr_clock_take(&from, before);
        } else {
            gr_clock_release(before);
        }
        if (to == from)
            continue;
        gr_clock_take(&w->lane_imp[l], gr_clock_retain(to));
        w->own |= UINT32_C(1) << l;
    }
    if (mask == w->exists && one && to) {
        gr_order_forget_lanes(w);
        gr_clock_take(&w->imp, gr_clock_retain(to));
        w->has_imp = true;
    }
    gr_clock_release(from);
    gr_clock_release(to);
}

// ---- bar.warp.sync -------------------------------------------------------------------------------------------------

static void sync_lanes(Order *o, Block *b, Warp *w, uint32_t mask) {
    // What lanes of the mask know through groups that are not inside it, and what they imported, is everybody's now.
    Clock *learnt = flush_waited(b, w, mask);
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
        // 0 would read as absent
        if (!gr_map_put_u64(&o->exits, key_of(BY_THREAD, b->id, w->index, l),
                            (void *)((uintptr_t)b->floor + 1)))
            o->nomem = true;
        gr_clock_merge(&b->left, imports_of(b, w, l));
    }
    w->exited |= lanes;
    b->ragged = o->info.data[b->id].ragged = true;
}

// What those who take part know of lanes that have exited through groups of their warp: the floor will not say it.
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

// Every thread of the block that has not exited took part.
static void sync_block(Order *o, Block *b, const Phase *p) {
    bool plain = true;
    Clock *waited = NULL;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        Warp *w = &b->warps[k];
        Clock *whole = w->waited.len ? flush_waited(b, w, p->arrived[k]) : NULL;
        gr_clock_merge(&waited, whole);
        gr_clock_release(whole);
        uint32_t gone = w->exists & ~w->exited & ~p->arrived[k];
        if (gone)
            note_exit(o, b, w, gone);
        plain &= !w->own && !w->has_imp;
    }
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
        gr_order_forget_lanes(w);
        gr_clock_take(&w->imp, NULL);
        w->has_imp = false;
        w->n_groups = 0;
        w->even = p->arrived[k] == w->exists ? e : 0;
        if (!w->exited)
            for (uint32_t l = 0; l < LANES; l++)
                w->epoch[l] = e;
        else
            for (uint32_t m = p->arrived[k]; m; m &= m - 1)
                w->epoch[__builtin_ctz(m)] = e;
    }
    o->version++;
}

static void barrier_arrive(Order *o, Block *b, Warp *w, const VmSyncEvent *e) {
    Phase *p = &b->barrier[e->barrier % BARRIERS];
    if (!p->open || p->complete) {
        gr_clock_take(&p->clock, NULL);
        memset(p->arrived, 0, sizeof p->arrived);
        p->open = true;
        p->partial = false;
    }
    p->complete = e->last;
    uint32_t mask = e->where.mask;
    if (!e->count || (e->count >= b->launch->threads && e->waits)) {
        p->arrived[w->index] |= mask;
        return;
    }
    Clock *c = gr_order_snapshots(b, w, mask);
    gr_clock_merge(&p->clock, c);
    gr_clock_release(c);
    gr_order_bump(o, b, w, mask);
    p->partial = true;
}

static bool all_arrived(const Block *b, const Phase *p) {
    for (uint32_t k = 0; k < b->n_warps; k++)
        if (b->warps[k].exists & ~b->warps[k].exited & ~p->arrived[k])
            return false;
    return true;
}

static void barrier_release(Order *o, Block *b, Warp *w, const VmSyncEvent *e) {
    Phase *p = &b->barrier[e->barrier % BARRIERS];
    if (p->open) { // the first that leaves
        p->open = false;
        if (!p->partial && (!e->count || all_arrived(b, p))) {
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
    o->phases.data[k] = o->phases.data[--o->phases.len];
}

static void cluster_arrive(Order *o, Block *b, Warp *w, const VmSyncEvent *e) {
    // Nobody can still wait for the phase before the last.
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
        return;
    }
    Clock *c = gr_order_snapshots(b, w, e->where.mask);
    gr_sources_add(o, &p->sources, b, PTX_SCOPE_CLUSTER, c);
    gr_clock_release(c);
    gr_order_bump(o, b, w, e->where.mask);
}

static void cluster_wait(Order *o, Block *b, Warp *w, const VmSyncEvent *e) {
    const ClusterPhase *p = cluster_phase(o, b->cluster, e->barrier);
    PlaceOp op = {0, PTX_ACQUIRE, PTX_SCOPE_CLUSTER};
    for (uint32_t m = p ? e->where.mask : 0; m; m &= m - 1)
        gr_order_acquire(o, b, w, (uint32_t)__builtin_ctz(m), &op, &p->sources, NULL);
}

// ---- Events --------------------------------------------------------------------------------------------------------

void gr_order_sync(Order *o, Block *b, const VmSyncEvent *e) {
    Warp *w = &b->warps[e->where.warp];
    switch (e->kind) {
    case VM_SYNC_WARP:
        // One event for each place that lanes met from; nobody does anything in between.
        if (e->where.mask >> __builtin_ctz(e->barrier) & 1)
            sync_lanes(o, b, w, e->barrier);
        break;
    case VM_SYNC_BARRIER_ARRIVE: barrier_arrive(o, b, w, e); break;
    case VM_SYNC_BARRIER_RELEASE: barrier_release(o, b, w, e); break;
    case VM_SYNC_CLUSTER_ARRIVE: cluster_arrive(o, b, w, e); break;
    case VM_SYNC_CLUSTER_RELEASE: cluster_wait(o, b, w, e); break;
    case VM_SYNC_FENCE: gr_order_fence(o, b, w, e->where.mask, e->sem, e->scope); break;
    case VM_SYNC_FENCE_PROXY: gr_order_fence_proxy(o, b, w, e); break;
    }
}

// ---- Questions -----------------------------------------------------------------------------------------------------

// A block's floor as far as it covers this thread.
static uint32_t covered(const Order *o, const Point *p, uint32_t lane, uint32_t floor) {
    if (!o->info.data[p->id].ragged)
        return floor;
    uintptr_t left = (uintptr_t)gr_map_get_u64(&o->exits, key_of(BY_THREAD, p->id, p->warp, lane));
    return left && left - 1 < floor ? (uint32_t)(left - 1) : floor;
}

bool gr_clock_has(const Order *o, const Clock *c, const Point *p, uint32_t lane) {
    return c && (gr_clock_get(c, key_of(BY_THREAD, p->id, p->warp, lane)) >= p->epoch ||
                 gr_clock_get(c, key_of(BY_WARP, p->id, p->warp, 0)) >= p->epoch ||
                 covered(o, p, lane, gr_clock_get(c, key_of(BY_BLOCK, p->id, 0, 0))) >= p->epoch);
}

static bool launch_known(const Order *o, const View *v, uint32_t launch) {
    const Launch *l = o->launches.data[launch];
    if (l == v->launch)
        return false;
    if (launch < o->settled || gr_clock_get(v->launch->known, gr_launch_key(l)))
        return true;
    return !o->told && l->ended && l->ended <= v->launch->begun;
}

bool gr_order_knows(const Order *o, const View *v, const Point *p, uint32_t lane) {
    if (launch_known(o, v, p->launch))
        return true;
    const Block *b = v->block;
    const Warp *w = v->warp;
    if (v->op) {
        const Op *op = v->op;
        if (p->id == op->id)
            return p->warp == op->warp && lane == v->lane;
        if (p->id == b->id && p->warp == op->warp && lane == v->lane)
            return p->epoch <= op->epoch[lane];
        return gr_clock_has(o, op->base[v->lane], p, lane);
    }
    if (p->id == b->id) {
        if (p->warp == w->index && lane == v->lane)
            return true;
        if (p->epoch <= b->floor && (!b->ragged || p->epoch <= covered(o, p, lane, b->floor)))
            return true;
        for (uint32_t g = 0; p->warp == w->index && g < w->n_groups; g++)
            if ((w->group[g].mask >> lane & w->group[g].mask >> v->lane & 1) && p->epoch <= w->group[g].floor)
                return true;
    }
    if (gr_clock_has(o, imports_of(b, w, v->lane), p, lane))
        return true;
    for (size_t k = w->waited.len; k-- > 0 && p->warp == w->index && lane == v->lane;) {
        const Waited *x = &w->waited.data[k];
        if (x->id == p->id && (x->mask >> lane & 1) && p->epoch <= x->epoch)
            return true;
    }
    return false;
}

bool gr_order_knows_warp(const Order *o, const View *v, const Point *p) {
    if (launch_known(o, v, p->launch))
        return true;
    if (v->op || o->info.data[p->id].ragged)
        return false;
    const Block *b = v->block;
    if (p->id == b->id) {
        if (p->epoch <= b->floor)
            return true;
        for (uint32_t g = 0; p->warp == v->warp->index && g < v->warp->n_groups; g++)
            if (v->warp->group[g].mask == v->warp->exists && p->epoch <= v->warp->group[g].floor)
                return true;
    }
    const Clock *c = imports_of(b, v->warp, v->lane);
    return c && (gr_clock_get(c, key_of(BY_WARP, p->id, p->warp, 0)) >= p->epoch ||
                 gr_clock_get(c, key_of(BY_BLOCK, p->id, 0, 0)) >= p->epoch);
}

bool gr_order_proxied(const Order *o, const View *v, const Point *p, uint32_t lane) {
    return launch_known(o, v, p->launch) || gr_clock_has(o, v->op->proxied[v->lane], p, lane) ||
           gr_order_fenced(o, v, p, lane);
}

bool gr_order_settled(const Order *o, uint32_t launch) {
    const Launch *l = o->launches.data[launch];
    if (!l->ended || o->told)
        return launch < o->settled;
    for (size_t k = 0; k < o->active.len; k++)
        if (o->active.data[k]->begun < l->ended)
            return false;
    return true;
}

Relation gr_order_relation(const Order *o, uint64_t a, uint64_t b) {
    if (a == b)
        return SAME_BLOCK;
    const BlockInfo *x = &o->info.data[a], *y = &o->info.data[b];
    if (x->cluster == y->cluster)
        return x->launch == y->launch && x->linear == y->linear ? SAME_BLOCK : SAME_CLUSTER;
    return o->launches.data[x->launch]->device == o->launches.data[y->launch]->device ? SAME_DEVICE
                                                                                      : SAME_SYSTEM;
}
