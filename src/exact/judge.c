// SPDX-License-Identifier: Apache-2.0
// judge — which accesses race, in which class, and what is said of it: both sides and the order that was missing.
#include "exact/exact_internal.h"

#include <stdlib.h>

enum { SITE_BITS = 28 };

const char *gr_exact_class_name(unsigned class) {
    static const char *const names[] = {
#define EXACT_CLASS(id, text, meaning) text,
#include "exact/races.def"
#undef EXACT_CLASS
    };
    return class < EXACT_CLASS_COUNT ? names[class] : "race";
}

const char *gr_exact_class_meaning(unsigned class) {
    static const char *const meanings[] = {
#define EXACT_CLASS(id, text, meaning) meaning,
#include "exact/races.def"
#undef EXACT_CLASS
    };
    return class < EXACT_CLASS_COUNT ? meanings[class] : "";
}

// ---- Races ---------------------------------------------------------------------------------------------------------

static void place(uint64_t linear, const uint32_t dims[3], uint32_t out[3]) {
    out[0] = (uint32_t)(linear % dims[0]);
    out[1] = (uint32_t)(linear / dims[0] % dims[1]);
    out[2] = (uint32_t)(linear / dims[0] / dims[1]);
}

static void fill_side(const Exact *x, const Stamp *s, uint32_t lane, uint64_t address, ExactSide *out) {
    const BlockInfo *b = &x->order.info.data[s->at.id];
    const Launch *l = x->order.launches.data[s->at.launch];
    *out = (ExactSide){.access = (PtxAccess)s->access,
                       .strong = s->strong,
                       .async = s->proxy == VM_PROXY_ASYNC,
                       .by = l->host   ? EXACT_BY_HOST
                             : s->site ? EXACT_BY_KERNEL
                             : s->elem ? EXACT_BY_FILL
                                       : EXACT_BY_COPY,
                       .scope = (PtxScope)(s->scope + 1),
                       .launch = l->number,
                       .block_linear = b->linear,
                       .address = address,
                       .size = s->size};
    for (size_t k = 0; k < x->host_pcs.len && l->host; k++)
        if (x->host_pcs.data[k].site == s->site)
            out->pc = x->host_pcs.data[k].pc;
    place(b->linear, l->grid, out->block);
    place((uint64_t)s->at.warp * LANES + lane, l->block, out->thread);
    for (size_t k = 0; k < x->modules.len && s->site; k++) {
        const Module *m = &x->modules.data[k];
        if (s->site - m->first <= m->n_sites && s->site >= m->first) {
            out->module = m->fingerprint;
            out->site = s->site - m->first;
        }
    }
}

// What would have ordered the host's access and the other.
static const char *host_order(const Stamp *host, const Stamp *other) {
    bool reads = host->access == PTX_ACCESS_READ;
    if (other->site)
        return reads ? "the host did not wait for the launch (cudaDeviceSynchronize, an event or a stream) "
                       "before it read"
                     : "the host did not wait for the launch (cudaDeviceSynchronize, an event or a stream) "
                       "before it wrote";
    return reads ? "the host did not wait for the copy or memset (cudaDeviceSynchronize, an event or a "
                   "stream) before it read"
                 : "the host did not wait for the copy or memset (cudaDeviceSynchronize, an event or a "
                   "stream) before it wrote";
}

// What would have ordered the two.
static const char *missing(const Exact *x, ExactClass class, const Stamp *a, const Stamp *b) {
    Relation r = gr_order_relation(&x->order, a->at.id, b->at.id);
    bool host = x->order.launches.data[a->at.launch]->host || x->order.launches.data[b->at.launch]->host;
    if (host && class == EXACT_SCOPE)
        return "the scope must be the system: the other side is the host";
    if (host)
        return x->order.launches.data[a->at.launch]->host ? host_order(a, b) : host_order(b, a);
    if (class == EXACT_PROXY)
        return "no fence.proxy.async between them";
    if (class == EXACT_SCOPE)
        return r == SAME_CLUSTER
                   ? "the scope must be the cluster or wider: they are in two blocks of a cluster"
               : r == SAME_DEVICE ? "the scope must be the device or wider: they are in two blocks"
                                  : "the scope must be the system: they are on two devices";
    if (!a->site || !b->site)
        return "no stream order, event or synchronization between the two";
    if (a->proxy != b->proxy || (a->at.id != b->at.id && r == SAME_BLOCK))
        return "no wait for the asynchronous operation (its group, or the mbarrier it completes on) between "
               "them";
    if (a->at.launch != b->at.launch)
        return "no stream order, event or synchronization between the two launches";
    if (r != SAME_BLOCK)
        return "no release by the one and acquire by the other, fences included, and no barrier that covers "
               "both blocks";
    if (a->at.warp == b->at.warp)
        return a->site == b->site && a->at.epoch == b->at.epoch
                   ? "two lanes of one warp, with one instruction or without __syncwarp() between"
                   : "two lanes of one warp, and no __syncwarp() or barrier between them";
    return "two warps of one block, and no __syncthreads() or other barrier that both take part in between "
           "them";
}

static uint64_t base_of(const Stamp *s, uint64_t word) {
    return s->size && !(s->size & (s->size - 1)) && s->size <= 32 ? word & ~(uint64_t)(s->size - 1) : word;
}

static void report(Exact *x, const Access *a, uint32_t lane, uint64_t word, uint32_t bytes, uint32_t other,
                   uint32_t other_lane, ExactClass class) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *theirs = &x->shadow.stamps.data[other];
    uint32_t s = mine->site, t = theirs->site, lo = s < t ? s : t, hi = s < t ? t : s;
    if (class == EXACT_SAME_VALUE && x->options.no_same_value)
        return;
    uint64_t key = (uint64_t)lo << (SITE_BITS + 8) | (uint64_t)hi << 8 | class;
    ExactRace *r = gr_map_get_u64(&x->pairs, key);
    if (!r) {
        r = calloc(1, sizeof *r);
        if (!r || !gr_map_put_u64(&x->pairs, key, r) || !gr_vec_push(&x->races, r)) {
            x->nomem = true;
            return;
        }
        r->class = class;
        r->space = a->owner ? PTX_SHARED : PTX_GLOBAL;
        fill_side(x, mine, lane, a->address[lane], &r->side[0]);
        fill_side(x, theirs, other_lane, base_of(theirs, word), &r->side[1]);
        r->overlap = word + (uint64_t)__builtin_ctz(bytes);
        r->overlap_bytes = (uint32_t)__builtin_popcount(bytes);
        r->order = missing(x, class, mine, theirs);
        if (x->options.found)
            x->options.found(x->options.user, r);
    }
    r->count++;
    if (r->counter)
        ++*r->counter;
}

// ---- Judging -------------------------------------------------------------------------------------------------------

// Of strong ones. The host's (elem 0) are of any size: it may be that of another instruction than the one meant.
static bool same_size(const Stamp *a, const Stamp *b) { return a->elem == b->elem || !a->elem || !b->elem; }

bool gr_exact_morally_strong(const Exact *x, const Stamp *a, const Stamp *b) {
    if (!a->strong || !b->strong || !same_size(a, b) || a->proxy != b->proxy)
        return false;
    unsigned r = gr_order_relation(&x->order, a->at.id, b->at.id);
    return r <= a->scope && r <= b->scope;
}

// An operation precedes another in causality order too when somebody observed its value and that precedes the other (PTX
// ISA, "Causality order", second rule): it is enough that a later strong read of the location is known.
static bool observed(const Exact *x, const Access *a, const Cell *cell, const Stamp *w) {
    for (unsigned side = 0; side < 2; side++) {
        History h = side ? cell->reads : cell->writes;
        Entry e;
        while (gr_history_next(&x->shadow, &h, &e)) {
            const Stamp *z = &x->shadow.stamps.data[e.stamp];
            if (!z->strong || z->access == PTX_ACCESS_WRITE || z->last <= w->first ||
                !gr_exact_morally_strong(x, w, z))
                continue;
            for (uint32_t m = e.lanes; m; m &= m - 1)
                if (gr_order_knows(&x->order, &a->view, &z->at, (uint32_t)__builtin_ctz(m)))
                    return true;
        }
    }
    return false;
}

// Does the access race with what lane u did under stamp t?
static bool races(const Exact *x, const Access *a, const Cell *cell, const Stamp *mine, const Stamp *t,
                  uint32_t u, ExactClass *class) {
    const Order *o = &x->order;
    if (gr_order_knows(o, &a->view, &t->at, u)) {
        *class = EXACT_PROXY;
        // A wait for an operation of the async proxy is a proxy fence; its reading what was only read is no conflict.
        return mine->proxy == VM_PROXY_ASYNC && t->proxy != VM_PROXY_ASYNC && t->access != PTX_ACCESS_READ &&
               a->view.op && !gr_order_proxied(o, &a->view, &t->at, u);
    }
    if (t->strong && t->access != PTX_ACCESS_READ && observed(x, a, cell, t))
        return false;
    if (gr_exact_morally_strong(x, mine, t)) { // then one is volatile, and it was asked for
        *class = EXACT_VOLATILE;
        return true;
    }
    if ((mine->mark | t->mark) & STAMP_DISCARDED) {
        *class = EXACT_SPECULATED;
        return true;
    }
    *class = mine->strong && t->strong && mine->proxy == t->proxy
                 ? !same_size(mine, t) ? EXACT_SIZE : EXACT_SCOPE
             : mine->access == PTX_ACCESS_WRITE && t->access == PTX_ACCESS_WRITE ? EXACT_WRITE_WRITE
             : mine->access != PTX_ACCESS_READ && t->access != PTX_ACCESS_READ   ? EXACT_WRITE_WRITE
                                                                                 : EXACT_READ_WRITE;
    return true;
}

bool gr_exact_knows_stamp(const Exact *x, Access *a, uint32_t stamp, const Stamp *t) {
    if (stamp == a->known)
        return true;
    if (!gr_order_knows_warp(&x->order, &a->view, &t->at))
        return false;
    if (!a->view.warp->own) {
        a->known = stamp;
        if (!t->strong)
            a->plain = stamp;
    }
    return true;
}

void gr_exact_check(Exact *x, Access *a, const Cell *cell, History h, uint32_t lane, uint32_t bytes,
                    uint64_t word) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    Entry e;
    uint32_t changed = 0; // bytes that newer ones than e changed
    for (; gr_history_next(&x->shadow, &h, &e); changed |= e.silent ? 0 : e.bytes) {
        const Stamp *t = &x->shadow.stamps.data[e.stamp];
        uint32_t both = e.bytes & bytes;
        if (!both)
            continue;
        a->met_strong |= t->strong;
        if (mine->proxy != VM_PROXY_ASYNC && gr_exact_knows_stamp(x, a, e.stamp, t))
            continue;
        if (gr_exact_morally_strong(x, mine, t) &&
            !(x->options.volatiles && ((mine->mark | t->mark) & STAMP_VOLATILE)))
            continue;
        for (uint32_t m = e.lanes; m; m &= m - 1) {
            uint32_t u = (uint32_t)__builtin_ctz(m);
            ExactClass class;
            if (!races(x, a, cell, mine, t, u, &class))
                continue;
            if (class == EXACT_WRITE_WRITE && (mine->mark & t->mark & STAMP_COMPARED) && !(changed & both) &&
                gr_exact_is_silent(a, lane, word, both))
                class = EXACT_SAME_VALUE;
            report(x, a, lane, word, both, e.stamp, u, class);
        }
    }
}
