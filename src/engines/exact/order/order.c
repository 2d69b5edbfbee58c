// SPDX-License-Identifier: Apache-2.0
// order — what threads know of others, and questions about that. What threads learn is elsewhere: at barriers in
// barriers.c, by fences and strong operations in sync.c, of asynchronous operations in async.c; launches and blocks are
// in launches.c.
#include "engines/exact/order/order_internal.h"

#include <string.h>

// ---- Clocks in place -----------------------------------------------------------------------------------------------

// ---- What a thread knows -------------------------------------------------------------------------------------------

Clock *gr_order_flush_waited(Block *b, Warp *w, uint32_t together) {
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
    if (b->copied)
        gr_clock_add(&c, key_of(BY_BLOCK, b->copies, 0, 0), b->copied);
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

void gr_order_add_waited(Clock **to, const Block *b, const Warp *w, uint32_t mask) {
    bool alike = mask == w->exists;
    for (uint32_t m = w->has_waited ? mask : 0; m && alike; m &= m - 1)
        alike = w->waited_to[__builtin_ctz(m)] == w->least_waited;
    if (w->has_waited && alike && w->least_waited > b->copied)
        gr_clock_add(to, key_of(BY_WARP, b->copies, w->index, 0), w->least_waited);
    for (uint32_t m = w->has_waited && !alike ? mask : 0; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (w->waited_to[l] > b->copied)
            gr_clock_add(to, key_of(BY_THREAD, b->copies, w->index, l), w->waited_to[l]);
    }
}

Clock *gr_order_base(Block *b, Warp *w, uint32_t lane) {
    Clock *c = gr_order_others(b, w, lane);
    if (w->has_waited && w->waited_to[lane] > b->copied)
        gr_clock_add(&c, key_of(BY_THREAD, b->copies, w->index, lane), w->waited_to[lane]);
    return c;
}

// What the lane knows of others, as a reference of the caller's own.
Clock *gr_order_others(Block *b, Warp *w, uint32_t lane) {
    if (w->waited.len)
        (void)gr_order_flush_waited(b, w, 0);
    Clock *imports = imports_of(b, w, lane);
    if (!groups_are_whole(b, w))
        return make_base(b, w, imports, lane);
    uint32_t top = 0;
    for (uint32_t g = 0; g < w->n_groups; g++)
        top = w->group[g].floor > top ? w->group[g].floor : top;
    if (!w->cached || w->cached_imp != imports || w->cached_floor != b->floor || w->cached_groups != top ||
        w->cached_copied != b->copied) {
        gr_clock_take(&w->cached, make_base(b, w, imports, lane));
        gr_clock_take(&w->cached_imp, gr_clock_retain(imports));
        w->cached_floor = b->floor;
        w->cached_groups = top;
        w->cached_copied = b->copied;
    }
    return gr_clock_retain(w->cached);
}

// The snapshots of several lanes together.
Clock *gr_order_snapshots(Block *b, Warp *w, uint32_t mask) {
    Clock *c = NULL;
    bool whole = mask == w->exists;
    uint32_t top = 0;
    Clock *last = NULL;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        Clock *base = gr_order_others(b, w, l);
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
    gr_order_add_waited(&c, b, w, mask);
    return c;
}

// Yields the lanes' next epoch. What is known of a lane never goes beyond its epoch, so any higher number will do.
// Lanes that release one after the other by one instruction get the same.
static uint32_t next_epoch(Order *o, Block *b, Warp *w, uint32_t mask) {
    enum { EVENTS = 2 }; // between two lanes: an arrival may end a phase
    bool again = w->bumped && o->moment_now - w->bumped_at <= EVENTS;
    for (uint32_t m = mask; m && again; m &= m - 1)
        again = w->epoch[__builtin_ctz(m)] < w->bumped;
    if (!again)
        w->bumped = ++b->epoch;
    w->bumped_at = o->moment_now;
    return w->bumped;
}

void gr_order_bump(Order *o, Block *b, Warp *w, uint32_t mask) {
    uint32_t e = next_epoch(o, b, w, mask);
    o->nomem |= e == UINT32_MAX;
    for (uint32_t m = mask; m; m &= m - 1)
        w->epoch[__builtin_ctz(m)] = e;
    bool even = true;
    for (uint32_t m = mask == w->exists ? 0 : w->exists & ~mask; m && even; m &= m - 1)
        even = w->epoch[__builtin_ctz(m)] == e;
    w->even = even ? e : 0;
    o->version++;
}

void gr_order_forget_lanes(Warp *w) {
    for (uint32_t m = w->own; m; m &= m - 1)
        gr_clock_take(&w->lane_imp[__builtin_ctz(m)], NULL);
    w->own = 0;
}

// The lanes know c already: a thread that waits in a loop learns the same again and again.
static bool has_learnt(Warp *w, uint32_t mask, Clock *c) {
    for (unsigned k = 0; k < LEARNT; k++)
        if (w->learnt[k] == c) {
            bool known = !(mask & ~w->learnt_by[k]);
            w->learnt_by[k] |= mask;
            return known;
        }
    unsigned k = w->last_learnt++ % LEARNT;
    gr_clock_take(&w->learnt[k], gr_clock_retain(c));
    w->learnt_by[k] = mask;
    return false;
}

// The thread that gave clock c knew the lane's last release, and the lane has learnt nothing since. Then c has all that
// the lane imports, as a thread that learns another's epoch learns what the other knew then.
static bool has_all_of(const Block *b, const Warp *w, uint32_t lane, const Clock *c) {
    uint32_t since = w->learnt_in[lane];
    return !b->launch->host && (gr_clock_get(c, key_of(BY_THREAD, b->id, w->index, lane)) >= since ||
                                gr_clock_get(c, key_of(BY_WARP, b->id, w->index, 0)) >= since ||
                                gr_clock_get(c, key_of(BY_BLOCK, b->id, 0, 0)) >= since);
}

// What the lane imports and b, as a reference of the caller's own. Threads that learn the same from the same get one
// clock: lanes one after the other, and the warps of a block.
static Clock *imports_and(Order *o, const Block *of, const Warp *w, uint32_t lane, Clock *b) {
    Clock *a = imports_of(of, w, lane);
    if (!a || a == b)
        return gr_clock_retain(b);
    Joined *j = &o->joined[(((uintptr_t)a >> 4) + 3 * ((uintptr_t)b >> 4)) % JOINED];
    if (j->a != a || j->b != b) {
        Clock *is = has_all_of(of, w, lane, b) ? gr_clock_retain(b) : gr_clock_join(a, b);
        gr_clock_take(&j->is, is);
        gr_clock_take(&j->a, gr_clock_retain(a));
        gr_clock_take(&j->b, gr_clock_retain(b));
    }
    return gr_clock_retain(j->is);
}

void gr_order_forget_joined(Order *o) {
    for (unsigned k = 0; k < JOINED; k++) {
        gr_clock_take(&o->joined[k].is, NULL);
        gr_clock_take(&o->joined[k].a, NULL);
        gr_clock_take(&o->joined[k].b, NULL);
    }
}

// If all lanes that may still do something have one clock, it becomes the warp's.
static void unite_lanes(Warp *w) {
    uint32_t lanes = w->exists & ~w->exited;
    if (!lanes || lanes & ~w->own)
        return;
    Clock *c = w->lane_imp[__builtin_ctz(lanes)];
    for (uint32_t m = lanes; m; m &= m - 1)
        if (w->lane_imp[__builtin_ctz(m)] != c)
            return;
    gr_clock_take(&w->imp, gr_clock_retain(c));
    w->has_imp = true;
    gr_order_forget_lanes(w);
}

static void all_learn(Order *o, Block *b, Warp *w, Clock *c) {
    uint32_t first = (uint32_t)__builtin_ctz(w->exists);
    Clock *now = imports_and(o, b, w, first, c);
    if (now != imports_of(b, w, first))
        memcpy(w->learnt_in, w->epoch, sizeof w->epoch);
    gr_clock_take(&w->imp, now);
    w->has_imp = true;
}

// The lanes of `mask` learn c.
void gr_order_learn(Order *o, Block *b, Warp *w, uint32_t mask, Clock *c) {
    if (!c || !mask || has_learnt(w, mask, c))
        return;
    o->version++;
    w->looked &= !o->talking; // another look says more of the lane now (gr_talk_after)
    if (mask == w->exists && !w->own) {
        all_learn(o, b, w, c);
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        Clock *before = imports_of(b, w, l), *now = imports_and(o, b, w, l, c);
        if (now == before) {
            gr_clock_release(now);
            continue;
        }
        gr_clock_take(&w->lane_imp[l], now);
        w->own |= UINT32_C(1) << l;
        w->learnt_in[l] = w->epoch[l];
    }
    unite_lanes(w);
}

// ---- Questions -----------------------------------------------------------------------------------------------------

// A block's floor as far as it covers this thread.
static uint32_t covered(const Order *o, const Point *p, uint32_t lane, uint32_t floor) {
    if (!gr_order_info(o, p->id)->ragged)
        return floor;
    uintptr_t left = (uintptr_t)gr_map_get_u64(&o->exits, key_of(BY_THREAD, p->id, p->warp, lane));
    return left && left - 1 < floor ? (uint32_t)(left - 1) : floor;
}

bool gr_clock_has(const Order *o, const Clock *c, const Point *p, uint32_t lane) {
    return c && (gr_clock_get(c, key_of(BY_THREAD, p->id, p->warp, lane)) >= p->epoch ||
                 gr_clock_get(c, key_of(BY_WARP, p->id, p->warp, 0)) >= p->epoch ||
                 covered(o, p, lane, gr_clock_get(c, key_of(BY_BLOCK, p->id, 0, 0))) >= p->epoch);
}

// Finds out whether `mine` knows l. Of an ended launch only the earlier work of its own stream is remembered as known.
static bool find_launch_known(const Order *o, const Launch *mine, const Launch *l) {
    if (l->turn && gr_clock_get(mine->known, gr_stream_key(l->stream)) >= l->turn)
        return true;
    if (l->turn && l->turn < mine->turn && l->stream == mine->stream)
        return true;
    return !o->told && l->ended && l->ended <= mine->begun;
}

// The answer stays the same while the viewer's launch runs: it never learns of work that has not ended. Only the host
// does.
bool gr_order_knows_launch(const Order *o, const View *v, uint32_t launch) {
    const Launch *l = o->launches.data[launch];
    Launch *mine = o->launches.data[v->launch->index];
    if (l == mine)
        return false;
    if (mine->host || mine->ended)
        return find_launch_known(o, mine, l);
    uint64_t *asked = &mine->asked[launch % ASKED];
    if (*asked >> 1 != l->begun)
        *asked = l->begun << 1 | find_launch_known(o, mine, l);
    return *asked & 1;
}

// c cannot have the point: no thread knew anything of a launch before it began.
static bool is_older(const View *v, const Point *p, const Clock *c) {
    return c == v->launch->known && p->launch == v->launch->index;
}

// Threads that knew of the launch told the lane: threads of other launches, or griddepcontrol.wait did.
static bool was_told(const Order *o, const View *v, uint32_t launch) {
    const Launch *l = o->launches.data[launch];
    if (l == v->launch || !l->turn)
        return false;
    const Clock *c = v->op ? gr_op_base(v->op, v->lane) : imports_of(v->block, v->warp, v->lane);
    return c != v->launch->known && gr_clock_get(c, gr_stream_key(l->stream)) >= l->turn;
}

uint32_t gr_order_own(const View *v, uint64_t id) {
    const Op *op = v->op;
    if (id == v->block->id)
        return op ? op->least_epoch : UINT32_MAX;
    return id != v->block->copies ? 0 : op ? op->least_waited : v->warp->least_waited;
}

// The operation, one lane of which is the viewer, knows of the point.
static bool op_knows(const Order *o, const View *v, const Point *p, uint32_t lane) {
    const Op *op = v->op;
    const Block *b = v->block;
    bool own = p->warp == op->warp && lane == v->lane, copies = p->id == b->copies;
    if (p->id == op->id && (!copies || p->epoch == op->number))
        return own;
    if (p->id == b->id && own)
        return p->epoch <= op->epoch[lane];
    if (copies && (p->epoch <= op->copied || (own && p->epoch <= op->waited_to[lane])))
        return true;
    return gr_clock_has(o, gr_op_base(op, v->lane), p, lane);
}

// The warp knows of the point, which is of its launch, only what its block's barriers and its own lanes tell it.
static bool was_told_nothing(const View *v, const Point *p) {
    const Block *b = v->block;
    const Warp *w = v->warp;
    return !v->op && !w->own && p->launch == v->launch->index && is_older(v, p, imports_of(b, w, 0)) &&
           p->id != b->copies;
}

bool gr_order_knows_none(const View *v, const Point *p) {
    const Block *b = v->block;
    return was_told_nothing(v, p) && (p->id != b->id || (p->warp != v->warp->index && p->epoch > b->floor));
}

bool gr_order_knows_only_itself(const View *v, const Point *p) {
    const Block *b = v->block;
    const Warp *w = v->warp;
    if (!was_told_nothing(v, p) || p->id != b->id || p->warp != w->index || p->epoch <= b->floor)
        return false;
    for (uint32_t g = 0; g < w->n_groups; g++)
        if (p->epoch <= w->group[g].floor)
            return false;
    return true;
}

bool gr_order_knows(const Order *o, const View *v, const Point *p, uint32_t lane) {
    if (gr_order_knows_launch(o, v, p->launch) || was_told(o, v, p->launch))
        return true;
    const Block *b = v->block;
    const Warp *w = v->warp;
    if (v->op)
        return op_knows(o, v, p, lane);
    if (p->id == b->copies &&
        (p->epoch <= b->copied || (p->warp == w->index && lane == v->lane && p->epoch <= w->waited_to[lane])))
        return true;
    if (p->id == b->id) {
        if (p->warp == w->index && lane == v->lane)
            return true;
        if (p->epoch <= b->floor && (!b->ragged || p->epoch <= covered(o, p, lane, b->floor)))
            return true;
        for (uint32_t g = 0; p->warp == w->index && g < w->n_groups; g++)
            if ((w->group[g].mask >> lane & w->group[g].mask >> v->lane & 1) && p->epoch <= w->group[g].floor)
                return true;
    }
    const Clock *c = imports_of(b, w, v->lane);
    if (!is_older(v, p, c) && gr_clock_has(o, c, p, lane))
        return true;
    for (size_t k = w->waited.len; k-- > 0 && p->warp == w->index && lane == v->lane;) {
        const Waited *x = &w->waited.data[k];
        if (x->id == p->id && (x->mask >> lane & 1) && p->epoch <= x->epoch)
            return true;
    }
    return false;
}

bool gr_order_ends_after(const Order *o, const Block *b, const Point *p, uint32_t lane) {
    if (gr_clock_has(o, b->met, p, lane) || gr_clock_has(o, b->left, p, lane) ||
        gr_clock_has(o, b->base, p, lane))
        return true;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        const Warp *w = &b->warps[k];
        for (uint32_t m = w->own ? w->exists : w->exists & -w->exists; m; m &= m - 1)
            if (gr_clock_has(o, imports_of(b, w, (uint32_t)__builtin_ctz(m)), p, lane))
                return true;
    }
    return false;
}

bool gr_clock_has_by_chance(const Order *o, const Clock *c, const Point *p, uint32_t lane) {
    return gr_clock_get(c, key_of(BY_THREAD, p->id, p->warp, lane) | BY_CHANCE) >= p->epoch ||
           gr_clock_get(c, key_of(BY_WARP, p->id, p->warp, 0) | BY_CHANCE) >= p->epoch ||
           covered(o, p, lane, gr_clock_get(c, key_of(BY_BLOCK, p->id, 0, 0) | BY_CHANCE)) >= p->epoch;
}

bool gr_order_knows_by_chance(const Order *o, const View *v, const Point *p, uint32_t lane) {
    const Launch *l = o->launches.data[p->launch];
    const Clock *c = v->op ? gr_op_base(v->op, v->lane) : imports_of(v->block, v->warp, v->lane);
    if (!c || !o->sc_number)
        return false;
    if (l->turn && l != v->launch && gr_clock_get(c, gr_stream_key(l->stream) | BY_CHANCE) >= l->turn)
        return true;
    return gr_clock_has_by_chance(o, c, p, lane);
}

bool gr_order_knows_warp(const Order *o, const View *v, const Point *p) {
    if (gr_order_knows_launch(o, v, p->launch) || was_told(o, v, p->launch))
        return true;
    if (gr_order_info(o, p->id)->ragged)
        return false;
    const Block *b = v->block;
    if (p->id == b->copies && p->epoch <= (v->op ? v->op->copied : b->copied))
        return true;
    if (p->id == b->id && !v->op) {
        if (p->epoch <= b->floor)
            return true;
        for (uint32_t g = 0; p->warp == v->warp->index && g < v->warp->n_groups; g++)
            if (v->warp->group[g].mask == v->warp->exists && p->epoch <= v->warp->group[g].floor)
                return true;
    }
    const Clock *c = v->op ? gr_op_base(v->op, v->lane) : imports_of(b, v->warp, v->lane);
    return c && !is_older(v, p, c) &&
           (gr_clock_get(c, key_of(BY_WARP, p->id, p->warp, 0)) >= p->epoch ||
            gr_clock_get(c, key_of(BY_BLOCK, p->id, 0, 0)) >= p->epoch);
}

bool gr_order_proxied(const Order *o, const View *v, const Point *p, uint32_t lane, bool chance) {
    const Clock *known = v->op->proxied[v->lane];
    return gr_order_knows_launch(o, v, p->launch) || gr_clock_has(o, known, p, lane) ||
           (chance && gr_clock_has_by_chance(o, known, p, lane)) || gr_order_fenced(o, v, p, lane, chance);
}

bool gr_order_settled(const Order *o, uint32_t launch) {
    const Launch *l = o->launches.data[launch];
    if (!l->ended || o->told) // streams that come may know nothing of it
        return false;
    for (size_t k = 0; k < o->active.len; k++)
        if (o->active.data[k]->begun < l->ended)
            return false;
    return true;
}

Relation gr_order_relation(const Order *o, uint64_t a, uint64_t b) {
    if (a == b)
        return SAME_BLOCK;
    const BlockInfo *x = gr_order_info(o, a), *y = gr_order_info(o, b);
    if (x->cluster == y->cluster)
        return x->launch == y->launch && x->linear == y->linear ? SAME_BLOCK : SAME_CLUSTER;
    return o->launches.data[x->launch]->device == o->launches.data[y->launch]->device ? SAME_DEVICE
                                                                                      : SAME_SYSTEM;
}
