// SPDX-License-Identifier: Apache-2.0
// exact — events to order and shadow, and what comes out of it. See exact.h.
#include "exact/exact.h"

#include "base/rng.h"
#include "exact/shadow.h"
#include "exact/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEWEST = 4, SITE_BITS = 28 };

typedef struct Module {
    const PtxModule *ptx; // NULL: may have been unloaded since
    uint64_t fingerprint;
    uint32_t first, n_sites; // its site s is site first + s of the execution
} Module;

struct Exact {
    ExactOptions options;
    Order order;
    Shadow shadow;
    Work work;
    VEC(Module) modules;
    uint32_t n_sites, last_module;
    VEC(ExactRace *) races;
    Map pairs; // sites and class -> ExactRace
    VEC(Entry) scratch;
    Launch *launch; // the last that was looked for
    uint64_t moment;
    bool nomem;
};

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

// ---- Modules and sites ---------------------------------------------------------------------------------------------

static uint64_t add_text(uint64_t h, const char *s) {
    return gr_mix64(h ^ (s ? gr_hash_bytes(s, strlen(s)) : 1));
}

uint64_t gr_exact_fingerprint(const PtxModule *m) {
    uint64_t h = gr_mix64(m->n_sites + 1);
    for (uint32_t f = 0; f < m->n_funcs; f++)
        if (!m->funcs[f]->tag.inserted)
            h = add_text(h, m->funcs[f]->name);
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        const PtxSite *s = &m->sites[k];
        const PtxLoc *l = s->stmt->loc;
        h = gr_mix64(h ^ ((uint64_t)s->access << 40 | (uint64_t)s->space << 32 | s->size));
        h = gr_mix64(h + (l ? (uint64_t)l->line << 32 | l->col << 8 | l->file : 0));
        h = add_text(h, s->func->name);
    }
    return h;
}

static const Module *module_of(Exact *x, const PtxModule *ptx) {
    if (x->last_module < x->modules.len && x->modules.data[x->last_module].ptx == ptx)
        return &x->modules.data[x->last_module];
    for (size_t k = 0; k < x->modules.len; k++)
        if (x->modules.data[k].ptx == ptx) {
            x->last_module = (uint32_t)k;
            return &x->modules.data[k];
        }
    uint64_t fingerprint = gr_exact_fingerprint(ptx);
    size_t k = 0;
    while (k < x->modules.len && (x->modules.data[k].fingerprint != fingerprint || x->modules.data[k].ptx))
        k++;
    if (k == x->modules.len) {
        Module m = {.fingerprint = fingerprint, .first = x->n_sites, .n_sites = ptx->n_sites};
        if (!gr_vec_push(&x->modules, m)) {
            x->nomem = true;
            return NULL;
        }
        x->n_sites += ptx->n_sites + 1;
    }
    x->modules.data[k].ptx = ptx;
    x->last_module = (uint32_t)k;
    return &x->modules.data[k];
}

static uint32_t site_of(Exact *x, const VmWhere *w) {
    const Module *m = w->module ? module_of(x, w->module) : NULL;
    return m && w->site <= m->n_sites ? m->first + w->site : 0;
}

// ---- Races ---------------------------------------------------------------------------------------------------------

// The accesses of some lanes of one warp instruction, or of one operation.
typedef struct Access {
    View view;
    Block *owner; // of shared memory; NULL: global
    uint32_t stamp;
    uint64_t address[LANES]; // of the access as a whole
    bool met_strong;         // it overwrote what a strong operation had written
    // What was found out about other stamps, for the next lanes. 0: nothing yet.
    uint32_t known; // every lane of the view's warp knows all of it
    uint32_t plain; // likewise, and it is weak
    uint32_t gone;  // whoever was under it is superseded by whoever is under a->stamp
    uint32_t own;   // it is of the same warp
} Access;

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
                       .by = s->site   ? EXACT_BY_KERNEL
                             : s->elem ? EXACT_BY_FILL
                                       : EXACT_BY_COPY,
                       .scope = (PtxScope)(s->scope + 1),
                       .launch = l->number,
                       .block_linear = b->linear,
                       .address = address,
                       .size = s->size};
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

// What would have ordered the two.
static const char *missing(const Exact *x, ExactClass class, const Stamp *a, const Stamp *b) {
    Relation r = gr_order_relation(&x->order, a->at.id, b->at.id);
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

static bool morally_strong(const Exact *x, const Stamp *a, const Stamp *b) {
    if (!a->strong || !b->strong || a->elem != b->elem || a->proxy != b->proxy)
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
                !morally_strong(x, w, z))
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
    if (morally_strong(x, mine, t))
        return false;
    if (t->strong && t->access != PTX_ACCESS_READ && observed(x, a, cell, t))
        return false;
    *class = mine->strong && t->strong && mine->proxy == t->proxy
                 ? mine->elem != t->elem ? EXACT_SIZE : EXACT_SCOPE
             : mine->access == PTX_ACCESS_WRITE && t->access == PTX_ACCESS_WRITE ? EXACT_WRITE_WRITE
             : mine->access != PTX_ACCESS_READ && t->access != PTX_ACCESS_READ   ? EXACT_WRITE_WRITE
                                                                                 : EXACT_READ_WRITE;
    return true;
}

static bool knows_stamp(const Exact *x, Access *a, uint32_t stamp, const Stamp *t) {
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

static void check(Exact *x, Access *a, const Cell *cell, History h, uint32_t lane, uint32_t bytes,
                  uint64_t word) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    Entry e;
    while (gr_history_next(&x->shadow, &h, &e)) {
        const Stamp *t = &x->shadow.stamps.data[e.stamp];
        if (!(e.bytes & bytes))
            continue;
        a->met_strong |= t->strong;
        if (mine->proxy != VM_PROXY_ASYNC && knows_stamp(x, a, e.stamp, t))
            continue;
        if (morally_strong(x, mine, t))
            continue;
        for (uint32_t m = e.lanes; m; m &= m - 1) {
            uint32_t u = (uint32_t)__builtin_ctz(m);
            ExactClass class;
            if (races(x, a, cell, mine, t, u, &class))
                report(x, a, lane, word, e.bytes & bytes, e.stamp, u, class);
        }
    }
}

// ---- Remembering ---------------------------------------------------------------------------------------------------

// Nobody can race any more with anything under that stamp.
static bool is_over(const Exact *x, const Access *a, const Stamp *t) {
    if (t->at.launch != a->view.launch->index && gr_order_settled(&x->order, t->at.launch))
        return true;
    const Block *b = a->owner;
    return b && t->at.id == b->id && t->at.epoch <= b->floor && !b->ragged && b->alone;
}

static bool all_over(const Exact *x, const Access *a, History h) {
    Entry e;
    while (gr_history_next(&x->shadow, &h, &e))
        if (!is_over(x, a, &x->shadow.stamps.data[e.stamp]))
            return false;
    return true;
}

// The lanes of `e` with whom somebody may race later without racing with the access now at hand too. Such a one has the same site
// and kind, covers the bytes, and comes after: whoever is unordered with the earlier then is with the later.
static uint32_t still_needed(const Exact *x, Access *a, const Entry *e, uint32_t bytes, bool chain) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *t = &x->shadow.stamps.data[e->stamp];
    if (is_over(x, a, t)) {
        a->gone = e->stamp;
        return 0;
    }
    if ((e->bytes & ~bytes) || t->site != mine->site || t->access != mine->access ||
        t->strong != mine->strong || t->scope != mine->scope || t->elem != mine->elem)
        return e->lanes;
    // A read-modify-write that saw another's value comes after it for all who come after itself (`observed`).
    if (chain && t->strong && t->access == PTX_ACCESS_RMW && morally_strong(x, mine, t) &&
        (t->at.id == mine->at.id || t->scope >= SAME_DEVICE))
        return 0;
    if (t->strong && t->at.id != mine->at.id && t->scope < SAME_DEVICE)
        return e->lanes;
    if (knows_stamp(x, a, e->stamp, t)) {
        if (a->known == e->stamp)
            a->gone = e->stamp;
        return 0;
    }
    uint32_t left = 0;
    for (uint32_t m = e->lanes; m; m &= m - 1)
        if (!gr_order_knows(&x->order, &a->view, &t->at, (uint32_t)__builtin_ctz(m)))
            left |= m & -m;
    return left;
}

// Everything that is still needed, and the access itself as the newest.
static History tidy(Exact *x, Access *a, History h, uint32_t lanes, uint32_t bytes) {
    Entry e, mine = {a->stamp, lanes, bytes};
    bool chain = true, same = true;
    x->scratch.len = 0;
    for (History rest = h; gr_history_next(&x->shadow, &rest, &e);) {
        if (e.stamp == a->stamp && e.bytes == bytes) {
            mine.lanes |= e.lanes;
            same = false;
            continue;
        }
        uint32_t needed = still_needed(x, a, &e, bytes, chain);
        same &= needed == e.lanes;
        e.lanes = needed;
        chain &= x->shadow.stamps.data[e.stamp].access == PTX_ACCESS_RMW;
        if (e.lanes && !gr_vec_push(&x->scratch, e))
            x->nomem = true;
    }
    if (same)
        return gr_history_push(&x->shadow, h, mine, !a->owner);
    History now = 0;
    for (size_t k = x->scratch.len + 1; k-- > 0;) {
        History longer = gr_history_push(&x->shadow, now, k ? x->scratch.data[k - 1] : mine, !a->owner);
        gr_history_release(&x->shadow, now);
        now = longer;
    }
    return now;
}

// What takes the place of h, with a reference to it. Long histories are tidied up at lengths that are powers of two, so that this costs little for each access.
static History remember(Exact *x, Access *a, History h, uint32_t lanes, uint32_t bytes) {
    if (!(h >> 31)) {
        if (h >> 5 == a->stamp && !(lanes & ~(UINT32_C(1) << (h & 31))))
            return h;
        return tidy(x, a, h, lanes, bytes);
    }
    Shadow *sh = &x->shadow;
    uint32_t length = gr_history_length(&x->shadow, h);
    if (!(length & (length - 1)))
        return tidy(x, a, h, lanes, bytes);
    History rest = h;
    Entry e, mine = {a->stamp, lanes, bytes};
    for (unsigned k = 0; k < NEWEST && gr_history_next(&x->shadow, &rest, &e); k++)
        if (e.stamp == a->stamp && !(bytes & ~e.bytes) && !(lanes & ~e.lanes))
            return gr_history_retain(sh, h);
    rest = h;
    (void)gr_history_next(&x->shadow, &rest, &e);
    if (e.stamp == a->stamp && e.bytes == bytes) {
        e.lanes |= lanes;
        return gr_history_push(&x->shadow, rest, e, !a->owner);
    }
    return gr_history_push(&x->shadow, h, mine, !a->owner);
}

// Whether the lane that accesses comes after what history h holds, as far as that is seen at a glance.
static inline bool is_after(const Exact *x, Access *a, History h, uint32_t lane) {
    uint32_t stamp = h >> 5;
    if (!h || stamp == a->plain)
        return true;
    if ((h & 31) != lane)
        return false;
    if (stamp == a->stamp || stamp == a->own)
        return true;
    const Stamp *t = &x->shadow.stamps.data[stamp];
    if (t->at.id != a->view.block->id || t->at.warp != a->view.warp->index || t->strong || a->view.op)
        return false;
    a->own = stamp;
    return true;
}

// The common case: a weak access of a whole word by one lane, where nothing has to be kept. False: look closer.
static inline bool touch_quickly(const Exact *x, Access *a, Cell *cell, uint32_t lane, bool reads) {
    History mine = a->stamp << 5 | lane, w = cell->writes, r = cell->reads;
    if ((w | r) >> 31 || !is_after(x, a, w, lane))
        return false;
    History *h = reads ? &cell->reads : &cell->writes;
    if (!reads && !is_after(x, a, r, lane))
        return false;
    if (*h && *h != mine && *h >> 5 != a->gone)
        return false;
    *h = mine;
    return true;
}

// All of `lanes` access the same bytes.
static void touch_word(Exact *x, Access *a, uint32_t lanes, uint64_t word, uint32_t bytes) {
    Cell *cell = a->owner ? gr_shadow_shared(&x->shadow, a->owner, word) : gr_shadow_global(&x->shadow, word);
    if (!cell)
        return;
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    PtxAccess access = (PtxAccess)s->access;
    if (bytes == ALL_BYTES && !(lanes & (lanes - 1)) && !s->strong && s->proxy == VM_PROXY_GENERIC &&
        touch_quickly(x, a, cell, (uint32_t)__builtin_ctz(lanes), access == PTX_ACCESS_READ))
        return;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t lane = a->view.lane = (uint32_t)__builtin_ctz(m);
        if (cell->writes)
            check(x, a, cell, cell->writes, lane, bytes, word);
        if (access != PTX_ACCESS_READ && cell->reads)
            check(x, a, cell, cell->reads, lane, bytes, word);
    }
    History *h = access == PTX_ACCESS_READ ? &cell->reads : &cell->writes;
    History now = remember(x, a, *h, lanes, bytes);
    gr_history_release(&x->shadow, *h);
    *h = now;
    // What was read before and can race no more is not looked at again.
    if (access != PTX_ACCESS_READ && cell->reads && all_over(x, a, cell->reads)) {
        gr_history_release(&x->shadow, cell->reads);
        cell->reads = 0;
    }
}

static void touch(Exact *x, Access *a, uint32_t lanes, uint32_t size) {
    uint64_t at = a->address[__builtin_ctz(lanes)], end = at + size;
    for (uint64_t word = at & ~(uint64_t)(CELL_BYTES - 1); word < end; word += CELL_BYTES) {
        uint32_t from = word < at ? (uint32_t)(at - word) : 0;
        uint32_t to = end - word < CELL_BYTES ? (uint32_t)(end - word) : CELL_BYTES;
        touch_word(x, a, lanes, word, ((1u << to) - 1) & ~((1u << from) - 1));
    }
}

// ---- Accesses ------------------------------------------------------------------------------------------------------

static Launch *launch_of(Exact *x, uint64_t number) {
    if (!x->launch || x->launch->number != number)
        x->launch = gr_order_launch(&x->order, number);
    return x->launch;
}

static Block *block_at(const Launch *l, uint64_t linear) {
    return l && l->blocks && linear < l->n_blocks ? l->blocks[linear] : NULL;
}

static Block *block_of(Exact *x, const VmWhere *w) {
    Block *b = block_at(launch_of(x, w->launch), w->block_linear);
    return b && w->warp < b->n_warps ? b : NULL;
}

static bool is_strong(PtxSem s) { return s != PTX_SEM_NONE && s != PTX_WEAK; }

// The scope of a strong operation as a relation.
static unsigned reach(PtxSem sem, PtxScope scope) {
    if (sem == PTX_VOLATILE || sem == PTX_MMIO)
        return SAME_SYSTEM;
    return scope == PTX_SCOPE_NONE ? SAME_DEVICE : (unsigned)scope - 1;
}

static uint32_t same_address(const uint64_t address[LANES], uint64_t at) {
    uint32_t same = 0;
    for (uint32_t l = 0; l < LANES; l++)
        same |= (uint32_t)(address[l] == at) << l;
    return same;
}

// No two lanes access the same bytes, which is seen at a glance.
static bool are_ascending(const uint64_t address[LANES], uint32_t mask, uint32_t size) {
    uint32_t wrong = 0;
    for (uint32_t l = 1; l < LANES; l++)
        wrong |= (uint32_t)(address[l] < address[l - 1] + size) << l;
    return !(wrong & mask & mask << 1) &&
           !((mask >> __builtin_ctz(mask)) & ((mask >> __builtin_ctz(mask)) + 1));
}

static void weak_access(Exact *x, Access *a, Stamp *s, Warp *w, const VmAccessEvent *e) {
    bool reads = e->access == PTX_ACCESS_READ,
         apart = !reads || are_ascending(a->address, e->where.mask, e->size);
    Map *vars = a->owner ? &a->owner->sync : &x->order.sync;
    for (uint32_t left = e->where.mask; left;) {
        uint32_t epoch = w->epoch[__builtin_ctz(left)], lanes = 0;
        for (uint32_t m = left; m; m &= m - 1)
            lanes |= (uint32_t)(w->epoch[__builtin_ctz(m)] == epoch) << __builtin_ctz(m);
        left &= ~lanes;
        s->at.epoch = epoch;
        a->stamp = gr_shadow_stamp(&x->shadow, s, x->moment);
        for (uint32_t m = a->stamp ? lanes : 0, together; m; m &= ~together) {
            uint32_t l = (uint32_t)__builtin_ctz(m);
            // Stores of several lanes to one place are races, found one by one.
            together = apart ? m & -m : m & same_address(a->address, a->address[l]);
            if (e->size == CELL_BYTES && together == (m & -m)) {
                Cell *cell = gr_shadow_near(&x->shadow, a->owner, a->address[l]);
                if (cell && touch_quickly(x, a, cell, l, reads))
                    continue;
            }
            a->met_strong = false;
            touch(x, a, together, e->size);
            if (a->met_strong && !reads)
                gr_order_overwritten(&x->order, vars, a->address[l], e->size);
        }
    }
}

static void strong_access(Exact *x, Access *a, Stamp *s, Warp *w, Block *b, const VmAccessEvent *e) {
    StrongOp op = {.vars = a->owner ? &a->owner->sync : &x->order.sync,
                   .size = s->elem,
                   .sem = e->sem,
                   .scope = (PtxScope)(s->scope + 1),
                   .rmw = e->access == PTX_ACCESS_RMW};
    for (unsigned k = 0; k < LANES; k++) {
        uint32_t l = gr_vm_commit_lane(k, e->turn);
        if (!(e->where.mask >> l & 1))
            continue;
        for (uint32_t i = 0; i < e->size && e->access != PTX_ACCESS_WRITE; i += s->elem) {
            op.at = a->address[l] + i;
            gr_order_strong_read(&x->order, b, w, l, &op);
        }
        s->at.epoch = w->epoch[l];
        a->stamp = gr_shadow_stamp(&x->shadow, s, x->moment);
        if (!a->stamp)
            return;
        touch(x, a, UINT32_C(1) << l, e->size);
        for (uint32_t i = 0; i < e->size && e->access != PTX_ACCESS_READ; i += s->elem) {
            op.at = a->address[l] + i;
            gr_order_strong_write(&x->order, b, w, l, &op);
        }
    }
}

static uint32_t elem_size(const VmWhere *w, uint32_t size) {
    uint32_t vec = w->stmt && w->stmt->kind == PTX_INSTR && w->stmt->instr->vec ? w->stmt->instr->vec : 1;
    return size / vec ? size / vec : 1;
}

static void on_access(void *user, const VmAccessEvent *e) {
    Exact *x = user;
    x->moment++;
    if (e->space != PTX_GLOBAL && e->space != PTX_SHARED)
        return;
    Block *b = block_of(x, &e->where);
    if (!b)
        return;
    Warp *w = &b->warps[e->where.warp];
    Access a = {.view = {.launch = b->launch, .block = b, .warp = w}};
    if (e->space == PTX_SHARED) {
        a.owner = block_at(b->launch, e->owner);
        if (!a.owner)
            return;
    }
    memcpy(a.address, e->address, sizeof a.address);
    Stamp s = {.at = {.id = b->id, .launch = b->launch->index, .warp = w->index},
               .site = site_of(x, &e->where),
               .size = e->size,
               .access = (uint8_t)e->access,
               .proxy = VM_PROXY_GENERIC};
    if (!is_strong(e->sem)) {
        weak_access(x, &a, &s, w, e);
        return;
    }
    s.strong = true;
    s.scope = (uint8_t)reach(e->sem, e->scope);
    s.elem = (uint8_t)elem_size(&e->where, e->size);
    strong_access(x, &a, &s, w, b, e);
}

static void async_access(Exact *x, Block *b, const VmAsyncEvent *e) {
    const Op *op = gr_order_op(b, e->op);
    if (!op)
        return;
    Access a = {.view = {.launch = b->launch, .block = b, .warp = &b->warps[e->where.warp], .op = op}};
    if (e->space == PTX_SHARED) {
        a.owner = block_at(b->launch, e->block);
        if (!a.owner)
            return;
    }
    memcpy(a.address, e->address, sizeof a.address);
    Stamp s = {.at = {op->id, e->kind == VM_ASYNC_READ ? 1 : 2, b->launch->index, op->warp},
               .site = site_of(x, &e->where),
               .size = e->size,
               .access = (uint8_t)e->access,
               .strong = e->access == PTX_ACCESS_RMW, // reductions are relaxed, of the device's scope
               .scope = SAME_DEVICE,
               .elem = 4,
               .proxy = (uint8_t)e->proxy};
    a.stamp = gr_shadow_stamp(&x->shadow, &s, x->moment);
    for (uint32_t m = a.stamp ? e->where.mask : 0; m; m &= m - 1) {
        touch(x, &a, m & -m, e->size);
    }
}

// ---- Everything else -----------------------------------------------------------------------------------------------

static void on_sync(void *user, const VmSyncEvent *e) {
    Exact *x = user;
    x->moment++;
    Block *b = block_of(x, &e->where);
    if (b)
        gr_order_sync(&x->order, b, e);
}

static void on_async(void *user, const VmAsyncEvent *e) {
    Exact *x = user;
    x->moment++;
    Block *b = block_of(x, &e->where);
    if (!b)
        return;
    if (e->kind == VM_ASYNC_READ || e->kind == VM_ASYNC_WRITE)
        async_access(x, b, e);
    gr_order_async(&x->order, b, e);
}

static void on_launch_begin(void *user, const VmLaunchEvent *e) {
    Exact *x = user;
    if (x->options.wanted && !x->options.wanted(x->options.user, e->kernel->name))
        return;
    if (!x->order.active.len) { // modules may have come and gone
        for (size_t k = 0; k < x->modules.len; k++)
            x->modules.data[k].ptx = NULL;
        if (!x->order.told) // and the past is settled
            gr_shadow_clear(&x->shadow);
    }
    gr_order_launch_begin(&x->order, e);
}

static void on_launch_end(void *user, const VmLaunchEvent *e, bool faulted) {
    Exact *x = user;
    Launch *l = launch_of(x, e->launch);
    x->launch = NULL;
    for (uint64_t k = 0; l && faulted && l->blocks && k < l->n_blocks; k++)
        if (l->blocks[k])
            gr_shadow_forget(&x->shadow, l->blocks[k]);
    if (l)
        gr_order_launch_end(&x->order, l, faulted);
}

static void on_block_begin(void *user, uint64_t launch, uint64_t linear) {
    Exact *x = user;
    Launch *l = launch_of(x, launch);
    if (l)
        gr_order_block_begin(&x->order, l, linear);
}

static void on_block_end(void *user, uint64_t launch, uint64_t linear) {
    Exact *x = user;
    Block *b = block_at(launch_of(x, launch), linear);
    if (b) {
        gr_shadow_forget(&x->shadow, b);
        gr_order_block_end(&x->order, b);
    }
}

// ---- Copies and memsets: launches of one thread --------------------------------------------------------------------

static void host_access(Exact *x, Block *b, const GrWorkBox *box, PtxAccess access, bool fill) {
    Access a = {.view = {.launch = b->launch, .block = b, .warp = &b->warps[0]}};
    Stamp s = {
        .at = {.id = b->id, .epoch = 1, .launch = b->launch->index}, .access = (uint8_t)access, .elem = fill};
    a.stamp = box->at ? gr_shadow_stamp(&x->shadow, &s, x->moment) : 0;
    for (uint64_t row = 0; a.stamp && row < box->height * box->depth; row++) {
        a.address[0] = box->at + row / box->height * box->slice + row % box->height * box->pitch;
        touch(x, &a, 1, box->width);
        if (access != PTX_ACCESS_READ)
            gr_order_overwritten(&x->order, &x->order.sync, a.address[0], box->width);
    }
}

static void host_begins(Exact *x, const GrWork *w, Clock *known) {
    VmLaunchEvent e = {.device = w->device, .grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}};
    Launch *l = gr_order_launch_begin(&x->order, &e);
    Block *b = NULL;
    if (l) {
        l->known = known;
        b = gr_order_block_begin(&x->order, l, 0);
    }
    if (!b || !gr_map_put_u64(&x->work.copies, w->item, l)) {
        x->nomem = true;
        return;
    }
    host_access(x, b, &w->from, PTX_ACCESS_READ, false);
    host_access(x, b, &w->to, PTX_ACCESS_WRITE, w->type == GR_WORK_FILL);
}

static Launch *done_by(Exact *x, const GrWork *w) {
    const Order *o = &x->order;
    if (w->type == GR_WORK_KERNEL) {
        for (size_t k = o->launches.len; k-- > o->settled;)
            if (o->launches.data[k]->number == w->launch)
                return o->launches.data[k];
        return NULL;
    }
    Launch *l = gr_map_remove_u64(&x->work.copies, w->item);
    if (l) {
        gr_order_block_end(&x->order, l->blocks[0]);
        gr_order_launch_end(&x->order, l, false);
    }
    return l;
}

void gr_exact_work(void *exact, const GrWork *w) {
    Exact *x = exact;
    Clock *known;
    x->moment++;
    x->launch = NULL;
    x->order.told = true;
    switch (w->kind) {
    case GR_WORK_SUBMITTED: gr_work_submitted(&x->work, w); break;
    case GR_WORK_BEGINS:
        known = gr_work_begins(&x->work, w);
        if (w->type == GR_WORK_KERNEL)
            gr_order_expect(&x->order, w->launch, known);
        else if (w->type == GR_WORK_COPY || w->type == GR_WORK_FILL)
            host_begins(x, w, known);
        else
            gr_clock_release(known);
        break;
    case GR_WORK_ENDED: gr_work_ended(&x->work, w, done_by(x, w)); break;
    case GR_WORK_WAITED:
        if (gr_work_waited(&x->work, w) && !x->order.active.len) {
            gr_order_settle(&x->order);
            gr_shadow_clear(&x->shadow);
        }
        break;
    }
}

gr_status gr_exact_create(const ExactOptions *o, Exact **out, gr_error *err) {
    Exact *x = calloc(1, sizeof *x);
    if (!x)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    if (o)
        x->options = *o;
    *out = x;
    return GR_OK;
}

void gr_exact_free(Exact *x) {
    if (!x)
        return;
    gr_order_free(&x->order);
    gr_work_free(&x->work);
    gr_shadow_free(&x->shadow);
    for (size_t k = 0; k < x->races.len; k++)
        free(x->races.data[k]);
    gr_vec_free(&x->races);
    gr_vec_free(&x->modules);
    gr_vec_free(&x->scratch);
    gr_map_free(&x->pairs);
    free(x);
}

VmObserver gr_exact_observer(Exact *x) {
    return (VmObserver){.user = x,
                        .launch_begin = on_launch_begin,
                        .launch_end = on_launch_end,
                        .block_begin = on_block_begin,
                        .block_end = on_block_end,
                        .access = on_access,
                        .sync = on_sync,
                        .async = on_async};
}

size_t gr_exact_races(const Exact *x) { return x->races.len; }
const ExactRace *gr_exact_race(const Exact *x, size_t k) { return x->races.data[k]; }

bool gr_exact_incomplete(const Exact *x) {
    return x->nomem || x->order.nomem || x->shadow.nomem || x->work.nomem || gr_clock_starved();
}

uint64_t gr_exact_shadow_bytes(const Exact *x) { return x->shadow.bytes; }
