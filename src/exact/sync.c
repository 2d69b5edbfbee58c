// SPDX-License-Identifier: Apache-2.0
// sync — fences, and strong operations that release and acquire.
//
// A release pattern is a release operation, or a fence and a later strong write; an acquire pattern an acquire operation, or a
// strong read and a later fence. A release pattern synchronizes with an acquire pattern when what the one wrote is what the other
// read, if need be through a chain of read-modify-writes, each of them morally strong with the one before; and when the first operation of the
// one and the last of the other are morally strong, that is: the scope of each includes the other's thread (PTX ISA 9.0, 8.8).
#include "exact/order_internal.h"

#include <stdlib.h>
#include <string.h>

enum { FENCES_KEPT = 16, SOURCES_MAX = 8 };

typedef struct ProxyFences {
    uint32_t n, epoch[FENCES_KEPT]; // ascending, the last ones
} ProxyFences;

static unsigned scope_index(PtxScope s) { return s == PTX_SCOPE_NONE ? SAME_DEVICE : (unsigned)s - 1; }

LaneSync *gr_order_lane_sync(Order *o, Warp *w, uint32_t lane) {
    if (!w->sync[lane])
        w->sync[lane] = calloc(1, sizeof *w->sync[lane]);
    o->nomem |= !w->sync[lane];
    return w->sync[lane];
}

// ---- Snapshots that wait -------------------------------------------------------------------------------------------

static void snap_clear(Snap *s) {
    gr_clock_take(&s->base, NULL);
    gr_clock_take(&s->full, NULL);
    s->epoch = 0;
}

static Clock *snap_clock(Snap *s, const Block *b, const Warp *w, uint32_t lane) {
    if (!s->full)
        s->full = gr_clock_with(s->base, key_of(BY_THREAD, b->id, w->index, lane), s->epoch);
    return s->full;
}

Clock *gr_order_fence_released(const Block *b, const Warp *w, uint32_t lane, Relation r) {
    LaneSync *s = w->sync[lane];
    return s && s->fence[r].epoch ? snap_clock(&s->fence[r], b, w, lane) : NULL;
}

// ---- Fences --------------------------------------------------------------------------------------------------------

static Clock **cluster_clock(Order *o, uint64_t cluster, Clock **value) {
    *value = gr_map_get_u64(&o->cluster_sc, cluster);
    return value;
}

// fence.sc: synchronizes with every later one that is morally strong with it. There is one clock for each way to be: a
// fence feeds those of its scope and narrower, and learns from the same.
static void fence_sc(Order *o, Block *b, Warp *w, uint32_t mask, unsigned scope, Clock *fed) {
    Clock *cluster = NULL,
          **clocks[SCOPES] = {&b->sc, cluster_clock(o, b->cluster, &cluster),
                              &o->device_sc[(unsigned)b->launch->device % 64], &o->system_sc};
    for (unsigned k = 0; k <= scope; k++)
        if (fed)
            gr_clock_merge(clocks[k], fed);
        else
            gr_order_learn(o, b, w, mask, *clocks[k]);
    if (fed && scope >= SAME_CLUSTER && !gr_map_put_u64(&o->cluster_sc, b->cluster, cluster))
        o->nomem = true;
}

void gr_order_fence(Order *o, Block *b, Warp *w, uint32_t mask, PtxSem sem, PtxScope written) {
    unsigned scope = scope_index(written);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        LaneSync *s = w->sync[l];
        for (unsigned k = 0; s && k <= scope; k++)
            if (s->pending[k]) {
                gr_order_learn(o, b, w, UINT32_C(1) << l, s->pending[k]);
                gr_clock_take(&s->pending[k], NULL);
            }
    }
    if (sem == PTX_SC)
        fence_sc(o, b, w, mask, scope, NULL);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        LaneSync *s = gr_order_lane_sync(o, w, l);
        if (!s)
            return;
        Clock *base = gr_order_base(b, w, l);
        for (unsigned k = 0; k <= scope; k++) {
            snap_clear(&s->fence[k]);
            s->fence[k].base = gr_clock_retain(base);
            s->fence[k].epoch = w->epoch[l];
        }
        gr_clock_release(base);
    }
    if (sem == PTX_SC) {
        Clock *all = gr_order_snapshots(b, w, mask);
        fence_sc(o, b, w, mask, scope, all);
        gr_clock_release(all);
    }
    gr_order_bump(o, b, w, mask);
}

// ---- Proxy fences --------------------------------------------------------------------------------------------------

static void keep_proxy_fence(Order *o, Block *b, Warp *w, uint32_t mask) {
    if (!b->fences)
        b->fences = calloc(PROXY_FENCES, sizeof *b->fences);
    if (!b->fences) {
        o->nomem = true;
        return;
    }
    ProxyFence *f = &b->fences[b->n_fences++ % PROXY_FENCES];
    gr_clock_take(&f->knew, gr_order_snapshots(b, w, mask));
    f->warp = w->index;
    f->mask = mask;
    memcpy(f->epoch, w->epoch, sizeof f->epoch);
}

void gr_order_fence_proxy(Order *o, Block *b, Warp *w, const VmSyncEvent *e) {
    if (e->proxy != VM_PROXY_ASYNC)
        return;
    for (uint32_t m = e->where.mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t key = key_of(BY_THREAD, b->id, w->index, l);
        LaneSync *s = gr_order_lane_sync(o, w, l);
        ProxyFences *f = gr_map_get_u64(&o->fenced, key);
        if (!f) {
            f = calloc(1, sizeof *f);
            if (!f || !gr_map_put_u64(&o->fenced, key, f)) {
                free(f);
                f = NULL;
            }
        }
        if (!s || !f) {
            o->nomem = true;
            return;
        }
        gr_clock_take(&s->proxied, gr_order_snapshot(b, w, l));
        if (f->n == FENCES_KEPT)
            for (f->n = 0; f->n < FENCES_KEPT - 1; f->n++)
                f->epoch[f->n] = f->epoch[f->n + 1];
        f->epoch[f->n++] = w->epoch[l];
    }
    keep_proxy_fence(o, b, w, e->where.mask);
    gr_order_bump(o, b, w, e->where.mask);
}

bool gr_order_fenced(const Order *o, const View *v, const Point *p, uint32_t lane) {
    const ProxyFences *f = gr_map_get_u64(&o->fenced, key_of(BY_THREAD, p->id, p->warp, lane));
    for (uint32_t k = 0; f && k < f->n; k++)
        if (f->epoch[k] >= p->epoch) {
            Point fence = *p;
            fence.epoch = f->epoch[k];
            return gr_order_knows(o, v, &fence, lane);
        }
    return false;
}

// ---- Strong operations ---------------------------------------------------------------------------------------------

static void var_free(SyncVar *x) {
    for (size_t k = 0; k < x->sources.len; k++)
        gr_clock_release(x->sources.data[k].clock);
    gr_vec_free(&x->sources);
    free(x);
}

static void var_remove(Map *vars, uint64_t at) {
    SyncVar *x = gr_map_remove_u64(vars, at);
    if (x)
        var_free(x);
}

void gr_order_vars_free(Map *vars) {
    for (size_t k = 0; k < vars->len; k++)
        if (vars->entries[k].live)
            var_free(vars->entries[k].value);
    gr_map_free(vars);
}

void gr_order_overwritten(Order *o, Map *vars, uint64_t at, uint64_t size) {
    (void)o;
    enum { BEFORE = 15 }; // no strong operation is larger than 16 bytes
    if (!vars->live)
        return;
    for (uint64_t a = at > BEFORE ? at - BEFORE : 0; a < at + size; a++) {
        const SyncVar *x = gr_map_get_u64(vars, a);
        if (x && x->at + x->size > at)
            var_remove(vars, a);
    }
}

static bool is_release(PtxSem s) { return s == PTX_RELEASE || s == PTX_ACQ_REL || s == PTX_SC; }
static bool is_acquire(PtxSem s) { return s == PTX_ACQUIRE || s == PTX_ACQ_REL || s == PTX_SC; }

// What was written last and what now happens are morally strong.
static bool hop(const Order *o, const Block *b, const SyncVar *x, const StrongOp *s, Relation *r) {
    *r = gr_order_relation(o, b->id, x->id);
    return x->size == s->size && (unsigned)*r <= scope_index(x->scope) &&
           (unsigned)*r <= scope_index(s->scope);
}

static SyncVar *var_at(const StrongOp *s) { return s->vars->live ? gr_map_get_u64(s->vars, s->at) : NULL; }

void gr_order_strong_read(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s) {
    SyncVar *x = var_at(s);
    Relation r;
    if (!x || !hop(o, b, x, s, &r))
        return;
    for (size_t k = 0; k < x->sources.len; k++) {
        const Source *from = &x->sources.data[k];
        Relation far = gr_order_relation(o, b->id, from->id);
        if ((unsigned)far > scope_index(from->scope))
            continue;
        if (is_acquire(s->sem) && (unsigned)far <= scope_index(s->scope)) {
            gr_order_learn(o, b, w, UINT32_C(1) << lane, from->clock);
            continue;
        }
        LaneSync *mine = gr_order_lane_sync(o, w, lane);
        if (mine)
            gr_clock_merge(&mine->pending[far], from->clock);
    }
}

void gr_order_observe(Order *o, Block *b, Warp *w, uint32_t lane, PtxSem sem, Relation far, Clock *c) {
    if (is_acquire(sem)) {
        gr_order_learn(o, b, w, UINT32_C(1) << lane, c);
        return;
    }
    LaneSync *mine = gr_order_lane_sync(o, w, lane);
    if (mine)
        gr_clock_merge(&mine->pending[far], c);
}

// Sources that nobody can tell apart become one. Wide ones may become one too: on one device all of them reach everybody.
static void add_source(Order *o, SyncVar *x, const Block *b, Clock *c, PtxScope scope) {
    bool full = x->sources.len >= SOURCES_MAX && scope >= PTX_SCOPE_GPU;
    for (size_t k = 0; k < x->sources.len; k++) {
        Source *s = &x->sources.data[k];
        if (s->scope == scope && s->device == b->launch->device && (s->id == b->id || full)) {
            gr_clock_merge(&s->clock, c);
            return;
        }
    }
    Source s = {gr_clock_retain(c), b->id, b->cluster, scope, b->launch->device};
    if (!gr_vec_push(&x->sources, s)) {
        gr_clock_release(c);
        o->nomem = true;
    }
}

static SyncVar *new_var(Order *o, const StrongOp *s) {
    SyncVar *x = calloc(1, sizeof *x);
    if (!x || !gr_map_put_u64(s->vars, s->at, x)) {
        free(x);
        o->nomem = true;
        return NULL;
    }
    x->at = s->at;
    x->size = s->size;
    return x;
}

void gr_order_strong_write(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s) {
    SyncVar *x = var_at(s);
    LaneSync *mine = w->sync[lane];
    bool release = is_release(s->sem), fences = mine && mine->fence[0].epoch;
    Relation r;
    if (x && (!s->rmw || !hop(o, b, x, s, &r))) {
        var_remove(s->vars, s->at);
        x = NULL;
    }
    if (!release && !fences && !x)
        return;
    if (!x)
        x = new_var(o, s);
    if (!x)
        return;
    x->id = b->id;
    x->cluster = b->cluster;
    x->scope = s->scope;
    x->device = b->launch->device;
    if (release) {
        Clock *c = gr_order_snapshot(b, w, lane);
        add_source(o, x, b, c, s->scope == PTX_SCOPE_NONE ? PTX_SCOPE_GPU : s->scope);
        gr_clock_release(c);
        gr_order_bump(o, b, w, UINT32_C(1) << lane);
    }
    for (unsigned k = 0; fences && k < SCOPES; k++)
        // One fence counts once, at its widest.
        if (mine->fence[k].epoch && (k + 1 == SCOPES || mine->fence[k + 1].epoch != mine->fence[k].epoch))
            add_source(o, x, b, snap_clock(&mine->fence[k], b, w, lane), (PtxScope)(k + 1));
}
