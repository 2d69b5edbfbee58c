// SPDX-License-Identifier: Apache-2.0
// sources — release patterns and acquire patterns (PTX ISA 9.x, 8.8): what a place holds for threads that acquire
// there.
//
// A release pattern is a release operation, or a fence or a release operation on the same place and a later strong
// write. An acquire pattern is an acquire operation, or a strong read and a later fence or acquire operation on the
// same place. The first operation of the one and the last of the other must be morally strong, so what is released is
// kept by how far it reaches, and what was read but not acquired yet by how far it has to reach.
#include "engines/exact/order/order_internal.h"

#include <stdlib.h>

enum { INDEXED = 8 };

static unsigned scope_index(PtxScope s) { return s == PTX_SCOPE_NONE ? SAME_DEVICE : (unsigned)s - 1; }
static bool releases(PtxSem s) { return s == PTX_RELEASE || s == PTX_ACQ_REL || s == PTX_SC; }
static bool acquires(PtxSem s) { return s == PTX_ACQUIRE || s == PTX_ACQ_REL || s == PTX_SC; }

// ---- Snapshots that wait -------------------------------------------------------------------------------------------

void gr_snap_set(Snap *s, Clock *base, uint32_t epoch) {
    gr_clock_take(&s->base, gr_clock_retain(base));
    gr_clock_take(&s->full, NULL);
    s->epoch = epoch;
}

static void snap_clear(Snap *s) { gr_snap_set(s, NULL, 0); }

static Clock *snap_clock(Snap *s, const Block *b, const Warp *w, uint32_t lane) {
    if (!s->full)
        s->full = gr_clock_with(s->base, key_of(BY_THREAD, b->id, w->index, lane), s->epoch);
    return s->full;
}

// ---- Sources -------------------------------------------------------------------------------------------------------

// Sets *group to the threads that are that near to those of b. False: all such threads are nearer. The host is one
// thread.
static bool group_of(const Block *b, unsigned relation, uint64_t *group) {
    uint64_t id = relation == SAME_BLOCK     ? b->id
                  : relation == SAME_CLUSTER ? b->cluster
                  : relation == SAME_DEVICE  ? (uint64_t)b->launch->device
                                             : 0;
    *group = id << 2 | relation;
    return b->launch->host ? relation == SAME_SYSTEM : relation != SAME_CLUSTER || !b->alone;
}

static Source *find(const Sources *s, uint64_t group) {
    if (s->list.len > INDEXED) {
        uintptr_t at = (uintptr_t)gr_map_get_u64(&s->index, group);
        return at ? &s->list.data[at - 1] : NULL;
    }
    for (size_t k = 0; k < s->list.len; k++)
        if (s->list.data[k].group == group)
            return &s->list.data[k];
    return NULL;
}

static Source *find_or_add(Order *o, Sources *s, uint64_t group) {
    Source *x = find(s, group), fresh = {group, NULL};
    if (x)
        return x;
    if (!gr_vec_push(&s->list, fresh)) {
        o->nomem = true;
        return NULL;
    }
    size_t n = s->list.len;
    for (size_t k = n == INDEXED + 1 ? 0 : n - 1; n > INDEXED && k < n; k++)
        if (!gr_map_put_u64(&s->index, s->list.data[k].group, (void *)(uintptr_t)(k + 1)))
            o->nomem = true;
    return &s->list.data[n - 1];
}

void gr_sources_add(Order *o, Sources *s, const Block *b, PtxScope scope, Clock *c) {
    uint64_t group;
    for (unsigned k = 0; k <= scope_index(scope); k++) {
        Source *x = group_of(b, k, &group) ? find_or_add(o, s, group) : NULL;
        if (x)
            gr_clock_merge(&x->clock, c);
    }
}

// Puts the lanes of s->last, which are all in one epoch, into the list.
static void settle(Order *o, Sources *s) {
    Releases *r = &s->last;
    Clock *c = gr_clock_retain(r->base);
    if (r->mask == r->exists)
        gr_clock_add(&c, key_of(BY_WARP, r->id, r->warp, 0), r->epoch);
    if (r->mask == r->exists && r->waited_to)
        gr_clock_add(&c, key_of(BY_WARP, r->copies, r->warp, 0), r->waited_to);
    for (uint32_t m = r->mask == r->exists ? 0 : r->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        gr_clock_add(&c, key_of(BY_THREAD, r->id, r->warp, l), r->epoch);
        if (r->waited_to)
            gr_clock_add(&c, key_of(BY_THREAD, r->copies, r->warp, l), r->waited_to);
    }
    for (unsigned k = 0; k < r->n; k++) {
        Source *x = find_or_add(o, s, r->group[k]);
        if (x)
            gr_clock_merge(&x->clock, c);
    }
    gr_clock_release(c);
    gr_clock_take(&r->base, NULL);
    r->mask = 0;
}

static inline void settled(Order *o, Sources *s) {
    if (s && s->last.mask)
        settle(o, s);
}

// Adds a release of all that a lane has done, which knows `base` of others and is about to get another epoch.
static void add_lane(Order *o, Sources *s, const Block *b, const Warp *w, uint32_t lane, PtxScope scope,
                     Clock *base) {
    Releases r = {.id = b->id,
                  .warp = w->index,
                  .exists = w->exists,
                  .mask = UINT32_C(1) << lane,
                  .epoch = w->epoch[lane],
                  .copies = b->copies,
                  .waited_to = w->has_waited && w->waited_to[lane] > b->copied ? w->waited_to[lane] : 0,
                  .base = base};
    for (unsigned k = 0; k <= scope_index(scope); k++)
        r.n += group_of(b, k, &r.group[r.n]);
    Releases *last = &s->last;
    if (last->mask && last->id == r.id && last->warp == r.warp && last->epoch == r.epoch &&
        last->base == base && last->waited_to == r.waited_to && last->n == r.n &&
        (!r.n || last->group[r.n - 1] == r.group[r.n - 1])) {
        last->mask |= r.mask;
        return;
    }
    settled(o, s);
    *last = r;
    gr_clock_retain(base);
}

Clock *gr_sources_of(Order *o, Sources *s, const Block *b, unsigned relation) {
    uint64_t group;
    settled(o, s);
    const Source *x = group_of(b, relation, &group) ? find(s, group) : NULL;
    return x ? x->clock : NULL;
}

void gr_sources_clear(Sources *s) {
    for (size_t k = 0; k < s->list.len; k++)
        gr_clock_release(s->list.data[k].clock);
    gr_clock_take(&s->last.base, NULL);
    s->last.mask = 0;
    gr_vec_free(&s->list);
    gr_map_free(&s->index);
}

// Some thread of the group can still acquire something.
static bool is_alive(const Order *o, uint64_t group) {
    uint64_t n = group >> 2;
    if ((group & 3) == SAME_BLOCK) {
        const BlockInfo *i = gr_order_info(o, n);
        const Block *b = gr_order_block(o->launches.data[i->launch], i->linear);
        return b && b->id == n;
    }
    if ((group & 3) != SAME_CLUSTER)
        return true;
    for (size_t k = 0; k < o->active.len; k++)
        if (n >= o->active.data[k]->first_cluster &&
            n - o->active.data[k]->first_cluster < o->active.data[k]->n_blocks)
            return true;
    return false;
}

void gr_sources_sweep(Sweep *s, Sources *x) {
    size_t n = 0;
    settled(s->order, x);
    for (size_t k = 0; k < x->list.len; k++) {
        Source *from = &x->list.data[k];
        if (is_alive(s->order, from->group)) {
            gr_order_sweep_clock(s, &from->clock);
            x->list.data[n++] = *from;
        } else
            gr_clock_release(from->clock);
    }
    if (n == x->list.len)
        return;
    x->list.len = n;
    gr_map_free(&x->index);
    for (size_t k = 0; k < n && n > INDEXED; k++)
        if (!gr_map_put_u64(&x->index, x->list.data[k].group, (void *)(uintptr_t)(k + 1)))
            s->order->nomem = true;
}

// ---- What a lane did at a place ------------------------------------------------------------------------------------

static void free_place(LanePlace *x) {
    for (unsigned k = 0; k < SCOPES; k++) {
        snap_clear(&x->released[k]);
        gr_clock_release(x->pending[k]);
    }
    free(x);
}

void gr_order_lane_sync_free(LaneSync *s) {
    if (!s)
        return;
    for (unsigned k = 0; k < SCOPES; k++) {
        snap_clear(&s->fence[k]);
        gr_clock_release(s->pending[k]);
    }
    for (size_t k = 0; k < s->places.len; k++)
        if (s->places.entries[k].live)
            free_place(s->places.entries[k].value);
    gr_map_free(&s->places);
    gr_clock_release(s->proxied);
    free(s);
}

static LanePlace *place_of(Order *o, LaneSync *s, uint64_t place, bool make) {
    LanePlace *x = s && place && s->places.live ? gr_map_get_u64(&s->places, place) : NULL;
    if (x || !make || !s || !place)
        return x;
    x = calloc(1, sizeof *x);
    if (!x || !gr_map_put_u64(&s->places, place, x)) {
        free(x);
        o->nomem = true;
        return NULL;
    }
    return x;
}

bool gr_order_has_released(const Warp *w, uint32_t lane, uint64_t place) {
    const LaneSync *s = w->sync[lane];
    return s && (s->fence[0].epoch || (s->places.live && gr_map_get_u64(&s->places, place)));
}

// ---- Patterns ------------------------------------------------------------------------------------------------------

// The threads that the scope reaches can acquire that epoch of the thread already, and so all that it knew then.
static bool is_added(const Sources *s, const Block *b, unsigned scope, uint64_t thread, uint32_t epoch) {
    uint64_t group;
    for (unsigned k = 0; k <= scope; k++) {
        if (!group_of(b, k, &group))
            continue;
        const Source *x = find(s, group);
        if (!x || gr_clock_get(x->clock, thread) < epoch)
            return false;
    }
    return true;
}

// Adds each of the snapshots whose scope is at least `from` once, at its widest.
static void add_snaps(Order *o, Block *b, const Warp *w, uint32_t lane, Snap snaps[SCOPES], unsigned from,
                      Sources *to) {
    uint64_t thread = key_of(BY_THREAD, b->id, w->index, lane);
    for (unsigned k = from; k < SCOPES; k++)
        if (snaps[k].epoch && (k + 1 == SCOPES || snaps[k + 1].epoch != snaps[k].epoch) &&
            !is_added(to, b, k, thread, snaps[k].epoch))
            gr_sources_add(o, to, b, (PtxScope)(k + 1), snap_clock(&snaps[k], b, w, lane));
}

void gr_order_release(Order *o, Block *b, Warp *w, uint32_t lane, const PlaceOp *p, Sources *to) {
    LaneSync *mine = w->sync[lane];
    LanePlace *here = place_of(o, mine, p->place, false);
    // The operation's own release includes those of its scope and narrower.
    unsigned from = releases(p->sem) ? scope_index(p->scope) + 1 : 0;
    if (mine)
        add_snaps(o, b, w, lane, mine->fence, from, to);
    if (here)
        add_snaps(o, b, w, lane, here->released, from, to);
    if (!releases(p->sem))
        return;
    Clock *base = gr_order_others(b, w, lane);
    add_lane(o, to, b, w, lane, p->scope, base);
    // All writes of the host release.
    here = b->launch->host ? NULL : place_of(o, gr_order_lane_sync(o, w, lane), p->place, true);
    if (here)
        gr_order_add_waited(&base, b, w, UINT32_C(1) << lane);
    for (unsigned k = 0; here && k <= scope_index(p->scope); k++)
        gr_snap_set(&here->released[k], base, w->epoch[lane]);
    gr_clock_release(base);
    gr_order_bump(o, b, w, UINT32_C(1) << lane);
}

static void keep(Order *o, LaneSync *mine, uint64_t place, unsigned relation, Clock *c) {
    if (!c || !mine)
        return;
    LanePlace *here = place_of(o, mine, place, true);
    bool alike = here && here->pending[relation] == mine->pending[relation];
    gr_clock_merge(&mine->pending[relation], c);
    if (!here)
        return;
    if (alike)
        gr_clock_take(&here->pending[relation], gr_clock_retain(mine->pending[relation]));
    else
        gr_clock_merge(&here->pending[relation], c);
    mine->reads = true;
}

void gr_order_acquire(Order *o, Block *b, Warp *w, uint32_t lane, const PlaceOp *p, Sources *from,
                      Clock *all) {
    uint32_t mask = UINT32_C(1) << lane;
    bool now = acquires(p->sem);
    settled(o, from);
    for (unsigned k = 0; k < SCOPES; k++) {
        uint64_t group;
        const Source *x = from && group_of(b, k, &group) ? find(from, group) : NULL;
        if (x && now && k <= scope_index(p->scope))
            gr_order_learn(o, b, w, mask, x->clock);
        else if (x)
            keep(o, gr_order_lane_sync(o, w, lane), p->place, k, x->clock);
    }
    if (all && now)
        gr_order_learn(o, b, w, mask, all);
    else if (all)
        keep(o, gr_order_lane_sync(o, w, lane), p->place, SAME_BLOCK, all);
    LaneSync *mine = w->sync[lane];
    LanePlace *here = now && mine && mine->reads ? place_of(o, mine, p->place, false) : NULL;
    for (unsigned k = 0; here && k <= scope_index(p->scope); k++)
        gr_order_learn(o, b, w, mask, here->pending[k]);
}

// A fence takes what reads have left for a fence.
void gr_order_acquire_pending(Order *o, Block *b, Warp *w, uint32_t lane, PtxScope scope) {
    LaneSync *s = w->sync[lane];
    unsigned reach = scope_index(scope);
    for (unsigned k = 0; s && k <= reach; k++)
        if (s->pending[k]) {
            gr_order_learn(o, b, w, UINT32_C(1) << lane, s->pending[k]);
            gr_clock_take(&s->pending[k], NULL);
        }
    if (!s || !s->reads || reach < SAME_DEVICE)
        return;
    for (size_t n = 0; n < s->places.len; n++) {
        LanePlace *x = s->places.entries[n].live ? s->places.entries[n].value : NULL;
        for (unsigned k = 0; x && k <= reach; k++)
            gr_clock_take(&x->pending[k], NULL);
    }
    s->reads = reach < SAME_SYSTEM;
}
