// SPDX-License-Identifier: Apache-2.0
// chance — in which order fence.sc came, and what of that is chance.
//
// An execution puts every two morally strong fence.sc into an order (PTX ISA 9.x, 8.9.3). The order is no accident
// where something leads from one to the other: program order, synchronization, or strong accesses of one place, one of
// them a write. (Their order shows: a value was read, was not there yet, or was overwritten.) Where nothing does,
// another execution with the same values has the two the other way round, and what they order here is a race there.
//
// So clocks name the fences that lead to what a thread does, by keys that stand apart (GR_CLOCK_APART). Only strong
// accesses of a place pass these keys on (Talk). A fence.sc learns what each fence that leads to it knew. What it would
// know only because other fences came earlier, it learns by keys with BY_CHANCE: gr_order_knows does not look at them.
// The lanes of one instruction count as one: what leads to the fence of one of them leads to all.
#include "engines/exact/order/order_internal.h"

#include <stdlib.h>

enum { KEPT = 64, MARKED = 1 << 16 };

typedef struct ScFence {
    uint32_t number;
    PtxScope scope;
    Clock *known;
} ScFence;

// The fence.sc of a whole warp, or of one thread, oldest first.
typedef struct ScFences {
    VEC(ScFence) list;
} ScFences;

static unsigned scope_index(PtxScope s) { return s == PTX_SCOPE_NONE ? SAME_DEVICE : (unsigned)s - 1; }

// ---- Fences that lead here -----------------------------------------------------------------------------------------

// The fence of that number, or if it is forgotten the next one that is there: that knew more.
static const ScFence *fence_of(const ScFences *f, uint32_t number) {
    size_t low = 0, high = f ? f->list.len : 0;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (f->list.data[mid].number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return f && low < f->list.len ? &f->list.data[low] : NULL;
}

typedef struct Learning {
    const Order *order;
    const Block *block;
    unsigned scope;
    Clock *learnt;
} Learning;

static void learn_of(void *user, uint64_t key, uint32_t number) {
    Learning *a = user;
    const ScFence *f = fence_of(gr_map_get_u64(&a->order->sc_fences, key & ~GR_CLOCK_APART), number);
    unsigned far = f ? gr_order_relation(a->order, a->block->id, id_of(key)) : 0;
    if (f && far <= a->scope && far <= scope_index(f->scope))
        gr_clock_merge(&a->learnt, f->known);
}

static Clock *leading_to(const Block *b, const Warp *w, uint32_t mask) {
    Clock *all = NULL;
    const Clock *last = NULL;
    for (uint32_t m = mask; m; m &= m - 1) {
        Clock *c = imports_of(b, w, (uint32_t)__builtin_ctz(m)),
              *apart = c == last ? NULL : gr_clock_apart(c);
        gr_clock_merge(&all, apart);
        gr_clock_release(apart);
        last = c;
    }
    return all;
}

// The lanes know what their last fence learnt.
static void learn_what_leads(Order *o, Block *b, Warp *w, uint32_t mask, PtxScope scope) {
    bool again = !(mask & ~w->led_lanes) && scope_index(scope) <= scope_index(w->led_scope) && w->led;
    Clock *done = again ? gr_clock_retain(w->led) : NULL;
    for (bool more = true; more;) {
        Learning a = {o, b, scope_index(scope), NULL};
        Clock *all = leading_to(b, w, mask);
        gr_clock_merge(&all, done);
        gr_clock_changes(done, all, learn_of, &a);
        more = a.learnt != NULL;
        gr_order_learn(o, b, w, mask, a.learnt);
        gr_clock_release(a.learnt);
        gr_clock_take(&done, all);
    }
    gr_order_learn(o, b, w, mask, done);
    gr_clock_take(&w->led, done);
    w->led_lanes = mask;
    w->led_scope = scope;
}

static void note(Order *o, uint64_t chain, PtxScope scope, Clock *known) {
    ScFences *f = gr_map_get_u64(&o->sc_fences, chain);
    if (!f) {
        f = calloc(1, sizeof *f);
        if (!f || !gr_map_put_u64(&o->sc_fences, chain, f)) {
            free(f);
            o->nomem = true;
            return;
        }
        o->table_bytes += sizeof *f;
    }
    if (f->list.len == KEPT) {
        for (size_t k = 0; k < KEPT; k++)
            if (k % 2)
                f->list.data[k / 2] = f->list.data[k];
            else
                gr_clock_release(f->list.data[k].known);
        f->list.len = KEPT / 2;
        o->table_bytes -= KEPT / 2 * sizeof(ScFence);
    }
    if (gr_vec_push(&f->list, ((ScFence){o->sc_number, scope, known}))) {
        gr_clock_retain(known);
        o->table_bytes += sizeof(ScFence);
    } else {
        o->nomem = true;
    }
}

// ---- By chance -----------------------------------------------------------------------------------------------------

static void learn_by_chance(void *user, uint64_t key, uint32_t v) {
    if (!(key & GR_CLOCK_APART))
        gr_clock_add(user, key | BY_CHANCE, v);
}

static void feed(ScOrder *x, Clock *known) {
    Clock *now = gr_clock_join(x->known, known);
    gr_clock_changes(x->known, now, learn_by_chance, &x->by_chance);
    gr_clock_take(&x->known, now);
}

// The orders that a fence is in, one for each way to be morally strong: a fence feeds those of its scope and narrower,
// and learns from the same.
static void orders_of(Order *o, Block *b, ScOrder *all[SCOPES]) {
    all[SAME_BLOCK] = &b->sc;
    all[SAME_CLUSTER] = b->alone ? NULL : gr_map_get_u64(&o->cluster_sc, b->cluster);
    all[SAME_DEVICE] = &o->device_sc[(unsigned)b->launch->device % 64];
    all[SAME_SYSTEM] = &o->system_sc;
    if (all[SAME_CLUSTER] || b->alone)
        return;
    ScOrder *fresh = calloc(1, sizeof *fresh);
    if (fresh && gr_map_put_u64(&o->cluster_sc, b->cluster, fresh)) {
        all[SAME_CLUSTER] = fresh;
        return;
    }
    free(fresh);
    o->nomem = true;
}

void gr_sc_learn(Order *o, Block *b, Warp *w, uint32_t mask, PtxScope scope) {
    ScOrder *all[SCOPES];
    o->talking = true;
    learn_what_leads(o, b, w, mask, scope);
    orders_of(o, b, all);
    for (unsigned k = 0; k <= scope_index(scope); k++)
        if (all[k])
            gr_order_learn(o, b, w, mask, all[k]->by_chance);
}

void gr_sc_tell(Order *o, Block *b, Warp *w, uint32_t mask, PtxScope scope) {
    Clock *mine = NULL;
    bool whole = mask == w->exists;
    uint32_t number = ++o->sc_number;
    o->nomem |= number == UINT32_MAX;
    if (whole)
        gr_clock_add(&mine, key_of(BY_WARP, b->id, w->index, 0) | GR_CLOCK_APART, number);
    for (uint32_t m = whole ? 0 : mask; m; m &= m - 1)
        gr_clock_add(&mine, key_of(BY_THREAD, b->id, w->index, (uint32_t)__builtin_ctz(m)) | GR_CLOCK_APART,
                     number);
    gr_order_learn(o, b, w, mask, mine);
    gr_clock_release(mine);
    Clock *known = gr_order_snapshots(b, w, mask);
    if (whole)
        note(o, key_of(BY_WARP, b->id, w->index, 0), scope, known);
    for (uint32_t m = whole ? 0 : mask; m; m &= m - 1)
        note(o, key_of(BY_THREAD, b->id, w->index, (uint32_t)__builtin_ctz(m)), scope, known);
    ScOrder *all[SCOPES];
    orders_of(o, b, all);
    for (unsigned k = 0; k <= scope_index(scope); k++)
        if (all[k])
            feed(all[k], known);
    gr_clock_release(known);
}

// ---- Accesses of one place -----------------------------------------------------------------------------------------

static Talk *talk_at(const StrongOp *s, uint64_t *place) {
    *place = gr_place(s->owner, s->at, s->size);
    return s->talks->live ? gr_map_get_u64(s->talks, *place) : NULL;
}

void gr_talk_before(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s, bool writes) {
    uint64_t place;
    const Talk *x = talk_at(s, &place);
    if (x)
        gr_order_learn(o, b, w, UINT32_C(1) << lane, writes ? x->all : x->writes);
}

void gr_talk_after(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s, bool writes) {
    if (!s->talks->live && !gr_clock_has_apart(imports_of(b, w, lane)))
        return;
    uint64_t place;
    Talk *x = talk_at(s, &place);
    Clock *mine = gr_clock_apart(imports_of(b, w, lane));
    if (!x && mine) {
        x = calloc(1, sizeof *x);
        if (!x || !gr_map_put_u64(s->talks, place, x)) {
            free(x);
            x = NULL;
            o->nomem = true;
        } else if (!s->owner) {
            o->table_bytes += sizeof *x;
        }
    }
    if (x) {
        gr_clock_merge(&x->all, mine);
        if (writes)
            gr_clock_take(&x->writes, gr_clock_retain(x->all));
    }
    gr_clock_release(mine);
}

// The thread's last fence before the point's epoch; NULL: there was none.
static const ScFence *fence_before(const Order *o, uint64_t chain, const Point *p, uint32_t lane) {
    const ScFences *f = gr_map_get_u64(&o->sc_fences, chain);
    for (size_t k = f ? f->list.len : 0; k-- > 0;) {
        const Clock *known = f->list.data[k].known;
        uint32_t own = gr_clock_get(known, key_of(BY_THREAD, p->id, p->warp, lane)),
                 warp = gr_clock_get(known, key_of(BY_WARP, p->id, p->warp, 0));
        if ((own > warp ? own : warp) < p->epoch)
            return &f->list.data[k];
    }
    return NULL;
}

// What leads to the thread now, if it has released nothing since the point; else what led to its last fence, and that
// fence.
static Clock *leading_to_point(const Order *o, const Point *p, uint32_t lane) {
    const BlockInfo *i = gr_order_info(o, p->id);
    const Block *b = gr_order_block(o->launches.data[i->launch], i->linear);
    if (b && b->id == p->id && p->warp < b->n_warps && b->warps[p->warp].epoch[lane] == p->epoch)
        return gr_clock_apart(imports_of(b, &b->warps[p->warp], lane));
    const ScFence *x = fence_before(o, key_of(BY_THREAD, p->id, p->warp, lane), p, lane),
                  *y = fence_before(o, key_of(BY_WARP, p->id, p->warp, 0), p, lane);
    return x && (!y || y->number < x->number) ? gr_clock_apart(x->known)
           : y                                ? gr_clock_apart(y->known)
                                              : NULL;
}

void gr_talk_raced(Order *o, const View *v, const Point *p, uint32_t lane) {
    Block *b = o->talking && !v->op ? gr_order_block(v->launch, v->block->linear) : NULL;
    Clock *c = b ? leading_to_point(o, p, lane) : NULL;
    if (c)
        gr_order_learn(o, b, &b->warps[v->warp->index], UINT32_C(1) << v->lane, c);
    gr_clock_release(c);
}

// ---- Heard of, without a fence behind ------------------------------------------------------------------------------

typedef struct Hearing {
    const Order *order;
    const Point *p;
    uint32_t lane;
    bool heard;
} Hearing;

static void hear_of(void *user, uint64_t key, uint32_t number) {
    Hearing *h = user;
    const ScFence *f =
        h->heard ? NULL : fence_of(gr_map_get_u64(&h->order->sc_fences, key & ~GR_CLOCK_APART), number);
    h->heard |= f && gr_clock_has(h->order, f->known, h->p, h->lane);
}

bool gr_sc_heard(const Order *o, const View *v, const Point *p, uint32_t lane) {
    Hearing h = {o, p, lane, false};
    Clock *c = v->op ? gr_op_base(v->op, v->lane) : imports_of(v->block, v->warp, v->lane);
    Clock *apart = gr_clock_apart(c);
    gr_clock_changes(NULL, apart, hear_of, &h);
    gr_clock_release(apart);
    return h.heard;
}

static void free_talk(Talk *x) {
    gr_clock_release(x->all);
    gr_clock_release(x->writes);
    free(x);
}

void gr_talks_free(Map *talks) {
    for (size_t k = 0; k < talks->len; k++)
        if (talks->entries[k].live)
            free_talk(talks->entries[k].value);
    gr_map_free(talks);
}

// ---- What goes -----------------------------------------------------------------------------------------------------

void gr_sc_order_clear(ScOrder *x) {
    gr_clock_take(&x->known, NULL);
    gr_clock_take(&x->by_chance, NULL);
}

void gr_sc_forget_cluster(Order *o, uint64_t cluster) {
    ScOrder *x = o->cluster_sc.live ? gr_map_remove_u64(&o->cluster_sc, cluster) : NULL;
    if (x)
        gr_sc_order_clear(x);
    free(x);
}

static void free_fences(Order *o, ScFences *f) {
    for (size_t k = 0; k < f->list.len; k++)
        gr_clock_release(f->list.data[k].known);
    o->table_bytes -= sizeof *f + f->list.len * sizeof(ScFence);
    gr_vec_free(&f->list);
    free(f);
}

void gr_sc_forget(Order *o) {
    for (size_t k = 0; k < o->cluster_sc.len; k++)
        if (o->cluster_sc.entries[k].live) {
            gr_sc_order_clear(o->cluster_sc.entries[k].value);
            free(o->cluster_sc.entries[k].value);
        }
    gr_map_free(&o->cluster_sc);
    for (unsigned k = 0; k < 64; k++)
        gr_sc_order_clear(&o->device_sc[k]);
    gr_sc_order_clear(&o->system_sc);
    for (size_t k = 0; k < o->sc_fences.len; k++)
        if (o->sc_fences.entries[k].live)
            free_fences(o, o->sc_fences.entries[k].value);
    gr_map_free(&o->sc_fences);
    o->table_bytes -= o->talks.live * sizeof(Talk);
    gr_talks_free(&o->talks);
}

// While the launch runs, others may come to know that such a fence leads to theirs.
void gr_sc_mark(Order *o) {
    for (size_t k = 0; k < o->sc_fences.len && o->sc_fences.live <= MARKED; k++) {
        uint64_t id = id_of(o->sc_fences.entries[k].key);
        uint32_t launch = gr_order_info(o, id)->launch;
        if (o->sc_fences.entries[k].live && launch && !o->launches.data[launch]->ended)
            gr_order_mark(o, launch, id);
    }
}

static void sweep_order(Sweep *s, ScOrder *x) {
    gr_order_sweep_clock(s, &x->known);
    gr_order_sweep_clock(s, &x->by_chance);
}

static void sweep_talks(Sweep *s) {
    Order *o = s->order;
    for (size_t k = 0, n = o->talks.len; k < n; k++) {
        Talk *x = o->talks.entries[k].live ? o->talks.entries[k].value : NULL;
        if (!x)
            continue;
        gr_order_sweep_clock(s, &x->all);
        gr_order_sweep_clock(s, &x->writes);
        if (x->all)
            continue;
        (void)gr_map_remove_u64(&o->talks, o->talks.entries[k].key);
        free_talk(x);
        o->table_bytes -= sizeof(Talk);
    }
}

void gr_sc_sweep(Sweep *s) {
    Order *o = s->order;
    for (unsigned k = 0; k < 64; k++)
        sweep_order(s, &o->device_sc[k]);
    sweep_order(s, &o->system_sc);
    for (size_t k = 0; k < o->cluster_sc.len; k++)
        if (o->cluster_sc.entries[k].live)
            sweep_order(s, o->cluster_sc.entries[k].value);
    for (size_t k = 0, n = o->sc_fences.len; k < n; k++) {
        uint64_t key = o->sc_fences.entries[k].key;
        ScFences *f = o->sc_fences.entries[k].live ? o->sc_fences.entries[k].value : NULL;
        for (size_t i = 0; f && i < f->list.len; i++)
            gr_order_sweep_clock(s, &f->list.data[i].known);
        if (!f || gr_order_info(o, id_of(key))->launch)
            continue;
        (void)gr_map_remove_u64(&o->sc_fences, key);
        free_fences(o, f);
    }
    sweep_talks(s);
}
