// SPDX-License-Identifier: Apache-2.0
// sync — fences and strong operations. What these release and acquire is in sources.c, the order of fence.sc in
// chance.c.
//
// A release pattern synchronizes with an acquire pattern that reads what it wrote, perhaps through a chain of
// read-modify-writes, each morally strong with the one before (PTX ISA 9.x, 8.9.2, 8.9.4).
#include "engines/exact/order/order_internal.h"

#include <stdlib.h>

enum { FENCES_KEPT = 4096 };

// The proxy fences of a thread, in order. What the thread knew at each: `base`, and its own past.
typedef struct ProxyFence {
    uint32_t epoch;
    Clock *base;
} ProxyFence;
typedef struct ProxyFences {
    VEC(ProxyFence) list;
} ProxyFences;

static unsigned scope_index(PtxScope s) { return s == PTX_SCOPE_NONE ? SAME_DEVICE : (unsigned)s - 1; }

LaneSync *gr_order_lane_sync(Order *o, Warp *w, uint32_t lane) {
    if (!w->sync[lane])
        w->sync[lane] = calloc(1, sizeof *w->sync[lane]);
    w->synced |= UINT32_C(1) << lane;
    o->nomem |= !w->sync[lane];
    return w->sync[lane];
}

// ---- Fences --------------------------------------------------------------------------------------------------------

static bool releases(PtxSem s) { return s == PTX_RELEASE || s == PTX_ACQ_REL || s == PTX_SC; }
static bool acquires(PtxSem s) { return s == PTX_ACQUIRE || s == PTX_ACQ_REL || s == PTX_SC; }

void gr_order_fence(Order *o, Block *b, Warp *w, uint32_t mask, PtxSem sem, PtxScope written) {
    unsigned scope = scope_index(written);
    for (uint32_t m = acquires(sem) ? mask : 0; m; m &= m - 1)
        gr_order_acquire_pending(o, b, w, (uint32_t)__builtin_ctz(m), written);
    if (sem == PTX_SC) {
        gr_sc_learn(o, b, w, mask, written);
        gr_sc_tell(o, b, w, mask, written);
    }
    if (!releases(sem))
        return;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        LaneSync *s = gr_order_lane_sync(o, w, l);
        if (!s)
            return;
        Clock *base = gr_order_base(b, w, l);
        for (unsigned k = 0; k <= scope; k++)
            gr_snap_set(&s->fence[k], base, w->epoch[l]);
        gr_clock_release(base);
    }
    gr_order_bump(o, b, w, mask);
}

// ---- Proxy fences --------------------------------------------------------------------------------------------------

static void drop_fences(ProxyFences *f, size_t n) {
    for (size_t k = 0; k < n; k++)
        gr_clock_release(f->list.data[k].base);
    f->list.len -= n;
    for (size_t k = 0; k < f->list.len; k++)
        f->list.data[k] = f->list.data[k + n];
}

static void free_fences(ProxyFences *f) {
    drop_fences(f, f->list.len);
    gr_vec_free(&f->list);
    free(f);
}

void gr_order_fences_free(Map *fenced) {
    for (size_t k = 0; k < fenced->len; k++)
        if (fenced->entries[k].live)
            free_fences(fenced->entries[k].value);
    gr_map_free(fenced);
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
        ProxyFence now = {w->epoch[l], gr_order_base(b, w, l)};
        if (f && f->list.len == FENCES_KEPT)
            drop_fences(f, FENCES_KEPT / 2);
        if (!s || !f || !gr_vec_push(&f->list, now)) {
            gr_clock_release(now.base);
            o->nomem = true;
            return;
        }
        gr_clock_take(&s->proxied, gr_clock_with(now.base, key, now.epoch));
    }
    gr_order_bump(o, b, w, e->where.mask);
}

// The viewer knows of a fence, of the thread that `key` names, that knew of p. `chance`: by chance will do.
static bool fenced_by(const Order *o, const View *v, uint64_t key, const ProxyFences *f, const Point *p,
                      uint32_t lane, bool chance) {
    bool own = key == key_of(BY_THREAD, p->id, p->warp, lane);
    Point fence = {.id = id_of(key), .warp = key >> 8 & (LANES - 1)};
    fence.launch = gr_order_info(o, fence.id)->launch;
    for (size_t k = 0; k < f->list.len; k++) {
        const ProxyFence *x = &f->list.data[k];
        fence.epoch = x->epoch;
        if (own && x->epoch < p->epoch)
            continue;
        uint32_t l = key >> 3 & (LANES - 1);
        if (!gr_order_knows(o, v, &fence, l) && !(chance && gr_order_knows_by_chance(o, v, &fence, l)))
            return false; // nor of later ones
        if (own || gr_clock_has(o, x->base, p, lane) ||
            (chance && gr_clock_has_by_chance(o, x->base, p, lane)))
            return true;
    }
    return false;
}

// First the thread's own fences, then those of all threads: that is slow, and seldom needed unless there is a race.
bool gr_order_fenced(const Order *o, const View *v, const Point *p, uint32_t lane, bool chance) {
    uint64_t own = key_of(BY_THREAD, p->id, p->warp, lane);
    const ProxyFences *f = gr_map_get_u64(&o->fenced, own);
    if (f && fenced_by(o, v, own, f, p, lane, chance))
        return true;
    for (size_t k = 0; k < o->fenced.len; k++)
        if (o->fenced.entries[k].live && o->fenced.entries[k].key != own &&
            fenced_by(o, v, o->fenced.entries[k].key, o->fenced.entries[k].value, p, lane, chance))
            return true;
    return false;
}

// A fence is asked about if its thread's launch is not known as a whole, or if it saw what is remembered of others.
static bool is_asked_about(const Order *o, uint64_t key, const ProxyFences *f) {
    if (gr_order_is_needed(o, id_of(key)))
        return true;
    for (size_t k = 0; k < f->list.len; k++)
        if (gr_order_names_needed(o, f->list.data[k].base))
            return true;
    return false;
}

void gr_order_mark_fences(Order *o) {
    size_t n = o->fenced.len;
    for (size_t k = 0; k < n; k++) {
        uint64_t key = o->fenced.entries[k].key;
        ProxyFences *f = o->fenced.entries[k].live ? o->fenced.entries[k].value : NULL;
        if (!f)
            continue;
        if (is_asked_about(o, key, f)) {
            gr_order_mark(o, gr_order_info(o, id_of(key))->launch, id_of(key));
            continue;
        }
        (void)gr_map_remove_u64(&o->fenced, key);
        free_fences(f);
    }
}

void gr_order_sweep_fences(Sweep *s) {
    const Map *m = &s->order->fenced;
    for (size_t k = 0; k < m->len; k++) {
        ProxyFences *f = m->entries[k].live ? m->entries[k].value : NULL;
        for (size_t n = 0; f && n < f->list.len; n++)
            gr_order_sweep_clock(s, &f->list.data[n].base);
    }
}

// ---- Strong operations ---------------------------------------------------------------------------------------------

static void var_free(SyncVar *x) {
    gr_sources_clear(&x->sources);
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
    for (size_t k = 0; size > vars->len && k < vars->len; k++) {
        const SyncVar *x = vars->entries[k].value;
        uint64_t from = vars->entries[k].key;
        if (vars->entries[k].live && from < at + size && from + x->size > at)
            var_remove(vars, from);
    }
    if (size > vars->len)
        return;
    for (uint64_t a = at > BEFORE ? at - BEFORE : 0; a < at + size; a++) {
        const SyncVar *x = gr_map_get_u64(vars, a);
        if (x && x->at + x->size > at)
            var_remove(vars, a);
    }
}

// The last write and the operation are morally strong.
static bool hop(const Block *b, const SyncVar *x, const StrongOp *s) {
    Relation r = b->id == x->id                   ? SAME_BLOCK
                 : b->cluster == x->cluster       ? SAME_CLUSTER
                 : b->launch->device == x->device ? SAME_DEVICE
                                                  : SAME_SYSTEM;
    return x->size == s->size && (unsigned)r <= scope_index(x->scope) && (unsigned)r <= scope_index(s->scope);
}

static SyncVar *var_at(const StrongOp *s) { return s->vars->live ? gr_map_get_u64(s->vars, s->at) : NULL; }

// In shared memory that no thread outside the block reaches, every scope is the block's.
static PlaceOp place_op(const Block *b, const StrongOp *s) {
    return (PlaceOp){gr_place(s->owner, s->at, s->size), s->sem,
                     s->owner && b->alone         ? PTX_SCOPE_CTA
                     : s->scope == PTX_SCOPE_NONE ? PTX_SCOPE_GPU
                                                  : s->scope};
}

void gr_order_strong_read(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s) {
    SyncVar *x = s->red ? NULL : var_at(s);
    PlaceOp p = place_op(b, s);
    if (o->talking)
        gr_talk_before(o, b, w, lane, s, s->rmw);
    if (x && hop(b, x, s))
        gr_order_acquire(o, b, w, lane, &p, &x->sources, NULL);
    else if (!s->red && w->sync[lane] && w->sync[lane]->reads)
        gr_order_acquire(o, b, w, lane, &p, NULL, NULL); // what it read there before
    if (o->talking && !s->rmw)
        gr_talk_after(o, b, w, lane, s, false);
}

void gr_order_observe(Order *o, Block *b, Warp *w, uint32_t lane, PtxSem sem, Relation far, Clock *c) {
    if (acquires(sem)) {
        gr_order_learn(o, b, w, UINT32_C(1) << lane, c);
        return;
    }
    LaneSync *mine = gr_order_lane_sync(o, w, lane);
    if (mine)
        gr_clock_merge(&mine->pending[far], c);
}

static SyncVar *new_var(Order *o, const StrongOp *s) {
    SyncVar *x = calloc(1, sizeof *x);
    bool known = s->vars != &o->sync || gr_map_put_u64(&o->sync_pages, s->at / SYNC_PAGE, o);
    if (!x || !known || !gr_map_put_u64(s->vars, s->at, x)) {
        free(x);
        o->nomem = true;
        return NULL;
    }
    x->at = s->at;
    x->size = s->size;
    o->var_sizes |= s->size;
    return x;
}

void gr_order_strong_write(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s) {
    SyncVar *x = var_at(s);
    PlaceOp p = place_op(b, s);
    if (o->talking && !s->rmw)
        gr_talk_before(o, b, w, lane, s, true);
    if (o->talking)
        gr_talk_after(o, b, w, lane, s, true);
    if (x && (!s->rmw || !hop(b, x, s))) {
        var_remove(s->vars, s->at);
        x = NULL;
    }
    if (s->vars->live > (x != NULL) && (o->var_sizes & ~s->size)) { // those of another size that overlap
        bool kept = x != NULL;
        if (kept)
            (void)gr_map_remove_u64(s->vars, s->at);
        gr_order_overwritten(o, s->vars, s->at, s->size);
        if (kept && !gr_map_put_u64(s->vars, s->at, x)) {
            var_free(x);
            x = NULL;
            o->nomem = true;
        }
    }
    if (!x && !releases(s->sem) && !gr_order_has_released(w, lane, p.place))
        return;
    if (!x)
        x = new_var(o, s);
    if (!x)
        return;
    x->id = b->id;
    x->cluster = b->cluster;
    x->scope = s->scope;
    x->device = b->launch->device;
    gr_order_release(o, b, w, lane, &p, &x->sources);
}
