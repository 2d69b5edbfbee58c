// SPDX-License-Identifier: Apache-2.0
// judge — which accesses race, in which class, and what is said of it: both sides and the order that was missing.
#include "engines/exact/again.h"
#include "engines/exact/order/order_internal.h"
#include "findings/missing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Races ---------------------------------------------------------------------------------------------------------

static void place(uint64_t linear, const uint32_t dims[3], uint32_t out[3]) {
    out[0] = (uint32_t)(linear % dims[0]);
    out[1] = (uint32_t)(linear / dims[0] % dims[1]);
    out[2] = (uint32_t)(linear / dims[0] / dims[1]);
}

static void fill_side(const Exact *x, const Stamp *s, uint32_t lane, uint64_t address, RaceSide *out) {
    const BlockInfo *b = gr_order_info(&x->order, s->at.id);
    const Launch *l = x->order.launches.data[s->at.launch];
    *out = (RaceSide){.access = (PtxAccess)s->access,
                      .strong = s->strong,
                      .is_volatile = s->mark & STAMP_VOLATILE,
                      .discarded = s->mark & STAMP_DISCARDED,
                      .async = s->proxy == VM_PROXY_ASYNC,
                      .by = s->mark & STAMP_FREED       ? RACE_BY_FREE
                            : s->mark & STAMP_ALLOCATED ? RACE_BY_ALLOC
                            : l->host                   ? RACE_BY_HOST
                            : s->site                   ? RACE_BY_KERNEL
                            : s->elem                   ? RACE_BY_FILL
                                                        : RACE_BY_COPY,
                      .scope = (PtxScope)(s->scope + 1),
                      .launch = l->number,
                      .call = l->call,
                      .block_linear = b->linear,
                      .address = address,
                      .size = s->size};
    out->node = s->mark & STAMP_NODE;
    if (out->by == RACE_BY_ALLOC)
        (void)gr_exact_allocation(x, address, &out->address, &out->size);
    for (size_t k = 0; k < x->host_pcs.len && l->host; k++)
        if (x->host_pcs.data[k].site == s->site)
            out->pc = x->host_pcs.data[k].pc;
    const FreeSite *f = out->by == RACE_BY_FREE ? gr_exact_free_site(x, s->site) : NULL;
    if (f) {
        out->file = f->file;
        out->function = f->function;
        out->line = f->line;
        out->ptx_line = f->ptx_line;
    }
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

// Which order between the host's access and the other is missing.
static const char *host_order(const Stamp *host, const Stamp *other) {
    bool reads = host->access == PTX_ACCESS_READ;
    if (other->site)
        return reads ? MISSING_HOST_READ_LAUNCH : MISSING_HOST_WRITE_LAUNCH;
    return reads ? MISSING_HOST_READ_COPY : MISSING_HOST_WRITE_COPY;
}

// Which order between any two accesses is missing.
static const char *no_order(const Exact *x, const Stamp *a, const Stamp *b) {
    Relation r = gr_order_relation(&x->order, a->at.id, b->at.id);
    if (x->order.launches.data[a->at.launch]->host)
        return host_order(a, b);
    if (x->order.launches.data[b->at.launch]->host)
        return host_order(b, a);
    if (!a->site || !b->site)
        return (a->mark | b->mark) & STAMP_NODE ? MISSING_EDGE : MISSING_STREAM;
    bool copies =
        a->at.id == b->at.id && a->at.epoch != b->at.epoch && gr_order_info(&x->order, a->at.id)->copies;
    if (a->proxy != b->proxy || ((copies || a->at.id != b->at.id) && r == SAME_BLOCK))
        return MISSING_ASYNC;
    if (a->at.launch != b->at.launch)
        return x->order.launches.data[a->at.launch]->prior ? MISSING_GRID_WAIT : MISSING_LAUNCHES;
    if (r != SAME_BLOCK)
        return r == SAME_CLUSTER ? MISSING_CLUSTER : MISSING_BLOCKS;
    if (a->at.warp == b->at.warp)
        return MISSING_LANES;
    return MISSING_WARPS;
}

// Why the scopes of two strong operations are not enough.
static void scope_order(const Exact *x, const Stamp *a, const Stamp *b, char *out, size_t cap) {
    static const char *const names[] = {".cta", ".cluster", ".gpu", ".sys"};
    static const char *const why[] = {"", "they are in two blocks of a cluster", "they are in two blocks",
                                      "they are on two devices"};
    Relation r = gr_order_relation(&x->order, a->at.id, b->at.id);
    bool host = x->order.launches.data[a->at.launch]->host || x->order.launches.data[b->at.launch]->host;
    const char *first = names[b->scope < (unsigned)r ? b->scope : a->scope];
    bool both = a->scope < (unsigned)r && b->scope < (unsigned)r;
    const char *second = both && a->scope != b->scope ? names[a->scope] : "";
    snprintf(out, cap, "scope %s%s%s %s too narrow: %s, which takes %s%s", first,
             *second ? " and scope "
             : both  ? " on both sides"
                     : "",
             second, *second ? "are" : "is", host ? "one side is the host" : why[r], names[r],
             r < SAME_SYSTEM ? " or wider" : "");
}

static void missing(const Exact *x, RaceClass class, const Stamp *a, const Stamp *b, char *out, size_t cap) {
    if (class == RACE_SCOPE)
        scope_order(x, a, b, out, cap);
    else if (class == RACE_PROXY || class == RACE_PROXY_READ)
        snprintf(out, cap, "the two are ordered, but no fence.proxy.async is between them");
    else if (class == RACE_CHANCE)
        snprintf(out, cap, "%s", MISSING_CHANCE);
    else if (class == RACE_SIZE)
        snprintf(out, cap, "operations of %u and of %u bytes are not atomic for each other; %s", b->elem,
                 a->elem, no_order(x, a, b));
    else
        snprintf(out, cap, "%s", no_order(x, a, b));
}

// Sets *base to where an access that touched `bytes` of `word` began, if that is known. Accesses of threads are aligned
// to their size, bulk operations to 16 bytes only, the host's not at all.
static bool base_of(const Stamp *s, uint64_t word, uint32_t bytes, uint64_t *base) {
    uint32_t aligned = s->proxy == VM_PROXY_ASYNC ? 16 : 32;
    *base = word + (uint64_t)__builtin_ctz(bytes);
    if (s->size <= (uint32_t)__builtin_popcount(bytes))
        return s->size != 0;
    if (!s->site || s->size & (s->size - 1) || s->size > aligned)
        return false;
    *base = word & ~(uint64_t)(s->size - 1);
    return true;
}

// Sets the bytes of the race: all that the two have in common if it is known where the other began; else those that
// raced.
static void overlap(Race *r, uint64_t word, uint32_t bytes, bool known) {
    uint64_t at = word + (uint64_t)__builtin_ctz(bytes), n = (uint64_t)__builtin_popcount(bytes);
    const RaceSide *a = &r->side[0], *b = &r->side[1];
    uint64_t from = a->address > b->address ? a->address : b->address;
    uint64_t to = a->address + a->size < b->address + b->size ? a->address + a->size : b->address + b->size;
    if (known && a->size && from <= at && at + n <= to) {
        at = from;
        n = to - from;
    }
    r->overlap = at;
    r->overlap_bytes = n;
}

bool gr_exact_is_wanted(const Exact *x, const Stamp *s) {
    if (!gr_exact_passes_some(x))
        return true;
    const Launch *l = s->at.launch < x->order.launches.len ? x->order.launches.data[s->at.launch] : NULL;
    return !(l && l->unwanted) && !(s->site < x->passed.len && x->passed.data[s->site]);
}

// Reports that `bytes` of the word raced; the other access is lane `other_lane` of entry e. False: it is not counted.
bool gr_exact_report(Exact *x, const Access *a, uint32_t lane, uint64_t word, uint32_t bytes, const Entry *e,
                     uint32_t other_lane, RaceClass class) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *theirs = &x->shadow.stamps.data[e->stamp];
    uint32_t lo = mine->site < theirs->site ? mine->site : theirs->site,
             hi = mine->site < theirs->site ? theirs->site : mine->site;
    x->reports++;
    if (!gr_exact_is_sound(x, a, lane, theirs, other_lane, word + (uint64_t)__builtin_ctz(bytes)))
        return false;
    if ((class == RACE_SAME_VALUE && x->options.no_same_value) || !gr_exact_is_wanted(x, mine) ||
        !gr_exact_is_wanted(x, theirs))
        return false;
    uint64_t key = gr_exact_pair(x, mine, theirs, a->owner != NULL, class);
    FoundRace *f = gr_map_get_u64(&x->pairs, key);
    if (x->options.occurred) {
        ExactOccurrence o = {class, a->owner ? PTX_SHARED : PTX_GLOBAL, 0, 0, word, bytes, {lo, hi}};
        if (a->owner) {
            o.launch = a->owner->launch->number;
            o.block = a->owner->linear;
        }
        x->options.occurred(x->options.user, &o);
    }
    if (class == RACE_ALLOCATED)
        gr_exact_allocation_raced(x, word);
    if (!f && gr_exact_incomplete(x)) // the order of the two may be among what was forgotten
        return false;
    if (!f) {
        uint64_t at_all = gr_exact_pair_at_all(key);
        FoundRace *first = gr_map_get_u64(&x->pairs, at_all);
        f = calloc(1, sizeof *f);
        if (!f || !gr_map_put_u64(&x->pairs, key, f) || !gr_vec_push(&x->races, f) ||
            !(first || gr_map_put_u64(&x->pairs, at_all, f))) {
            x->nomem = true;
            return false;
        }
        f->counts = first ? first : f;
        Race *r = &f->race;
        r->class = class;
        r->space = a->owner ? PTX_SHARED : PTX_GLOBAL;
        r->order = f->order;
        f->patience = PATIENCE;
        fill_side(x, mine, lane, a->address[lane], &r->side[0]);
        uint64_t base, size;
        bool known = theirs->mark & STAMP_FREED       ? gr_exact_freed_base(x, word, &base)
                     : theirs->mark & STAMP_ALLOCATED ? gr_exact_allocation(x, word, &base, &size)
                                                      : base_of(theirs, word, e->bytes, &base);
        fill_side(x, theirs, other_lane, base, &r->side[1]);
        overlap(r, word, bytes, known);
        missing(x, class, mine, theirs, f->order, sizeof f->order);
        if (x->options.found)
            x->options.found(x->options.user, r);
        if (first)
            gr_race_count(r, x->moment, UINT32_C(1) << lane);
    }
    gr_exact_count(f, x->moment, UINT32_C(1) << lane);
    return true;
}

// ---- Judging -------------------------------------------------------------------------------------------------------

// The async proxy's operation comes after t, but no proxy fence has told it what the generic proxy did there. (A wait
// for an operation of the async proxy is a proxy fence.) `chance`: knowledge by chance counts, too.
static bool lacks_proxy_fence(const Exact *x, const Access *a, const Stamp *mine, const Stamp *t, uint32_t u,
                              bool chance) {
    return mine->proxy == VM_PROXY_ASYNC && t->proxy != VM_PROXY_ASYNC && a->view.op &&
           !gr_order_proxied(&x->order, &a->view, &t->at, u, chance);
}

// The bytes of the word for which an operation that observed w's value precedes the access. Then w precedes the access
// too (PTX ISA, "Causality order", second rule), so a later strong read of the location is enough.
static uint32_t observed(const Exact *x, const Access *a, const Cell *cell, const Stamp *mine, const Stamp *w,
                         uint32_t u, uint32_t wanted, bool chance) {
    uint32_t bytes = 0;
    const bool ordered[2] = {w->access == PTX_ACCESS_RMW, false};
    for (unsigned k = 0; k < 2; k++) {
        unsigned side = ordered[0] ? k : !k; // first where it is more likely
        History h = side ? cell->reads : cell->writes;
        Entry e;
        bool newer = !side; // than w: atomic operations have an order, merged stores only half of one
        while ((bytes & wanted) != wanted && gr_history_observes(&x->shadow, h) &&
               gr_history_next(&x->shadow, &h, &e)) {
            const Stamp *z = &x->shadow.stamps.data[e.stamp];
            newer &= z != w || !(e.lanes >> u & 1) || !(e.bytes & wanted);
            if (!gr_stamp_observes(z) ||
                (!newer && (ordered[side] || z == w || gr_stamp_last(z) <= w->first)) ||
                !gr_exact_morally_strong(x, w, z))
                continue;
            for (uint32_t m = e.lanes; m; m &= m - 1) {
                uint32_t l = (uint32_t)__builtin_ctz(m);
                if ((chance ? gr_order_knows_by_chance : gr_order_knows)(&x->order, &a->view, &z->at, l) &&
                    !lacks_proxy_fence(x, a, mine, z, l, chance)) {
                    bytes |= e.bytes;
                    break;
                }
            }
        }
    }
    return bytes;
}

// In this execution the access came after what lane u did on these bytes, but by chance only.
static bool is_by_chance(const Exact *x, const Access *a, const Cell *cell, const Stamp *mine, const Stamp *t,
                         uint32_t u, uint32_t bytes) {
    return (gr_order_knows_by_chance(&x->order, &a->view, &t->at, u) &&
            !lacks_proxy_fence(x, a, mine, t, u, true)) ||
           (t->strong && t->access != PTX_ACCESS_READ &&
            !(bytes & ~observed(x, a, cell, mine, t, u, bytes, true)));
}

// The access races with what lane u did under stamp t. *bytes becomes the bytes that race.
static bool races(Exact *x, const Access *a, const Cell *cell, const Stamp *mine, const Stamp *t, uint32_t u,
                  uint32_t *bytes, RaceClass *class) {
    const Order *o = &x->order;
    if (gr_order_knows(o, &a->view, &t->at, u)) {
        if (x->hosts.several && gr_hosts_unsure(o, &a->view, &t->at) &&
            gr_hosts_by_time(o, &a->view, &t->at, u))
            gr_exact_count_unsure(x, a, mine, t);
        if (!lacks_proxy_fence(x, a, mine, t, u, false))
            return false;
        *class = t->access == PTX_ACCESS_READ ? RACE_PROXY_READ : RACE_PROXY;
        return *class == RACE_PROXY || gr_exact_reports_proxy_read(x, a, mine, t);
    }
    if (t->strong && t->access != PTX_ACCESS_READ)
        *bytes &= ~observed(x, a, cell, mine, t, u, *bytes, false);
    bool one_volatile = gr_exact_morally_strong(x, mine, t);
    bool chance = *bytes && x->order.sc_number && is_by_chance(x, a, cell, mine, t, u, *bytes);
    if (!*bytes || (one_volatile && chance)) {
        if (one_volatile)
            gr_exact_volatile_ordered(x, mine, t);
        return false;
    }
    if (chance && gr_sc_heard(o, &a->view, &t->at, u)) {
        x->heard++;
        return false;
    }
    if (one_volatile) {
        *class = RACE_VOLATILE;
        return gr_exact_reports_volatile(x, a, mine, t);
    }
    if ((mine->mark | t->mark) & STAMP_ALLOCATED) {
        *class = RACE_ALLOCATED;
        return true;
    }
    if (mine->mark & STAMP_FREED) {
        *class = RACE_FREED;
        return true;
    }
    if ((mine->mark | t->mark) & STAMP_DISCARDED) {
        *class = RACE_SPECULATED;
        return true;
    }
    if (chance) {
        *class = RACE_CHANCE;
        return true;
    }
    *class = mine->strong && t->strong && mine->proxy == t->proxy
                 ? !gr_exact_same_size(mine, t) ? RACE_SIZE : RACE_SCOPE
             : mine->access == PTX_ACCESS_WRITE && t->access == PTX_ACCESS_WRITE ? RACE_WRITE_WRITE
             : mine->access != PTX_ACCESS_READ && t->access != PTX_ACCESS_READ   ? RACE_WRITE_WRITE
                                                                                 : RACE_READ_WRITE;
    return true;
}

bool gr_exact_knows_stamp(const Exact *x, Access *a, uint32_t stamp, const Stamp *t) {
    if (stamp == a->known)
        return true;
    if (x->hosts.several && gr_hosts_unsure(&x->order, &a->view, &t->at)) // lane by lane
        return false;
    if (gr_exact_is_apart(x, a, t))
        return false;
    bool all = gr_exact_came_before(x, a, t->at.launch);
    if (!all && a->late) // a write that is late comes after all that it may race with (phase.c)
        return x->shadow.stamps.data[a->stamp].access == PTX_ACCESS_WRITE;
    if (!all && !gr_order_knows_warp(&x->order, &a->view, &t->at))
        return false;
    if (all || (a->view.op ? a->view.op->even : !a->view.warp->own)) {
        a->known = stamp;
        if (!t->strong)
            a->plain = stamp;
    }
    return true;
}

static Raced raced_as(RaceClass class) {
    return class == RACE_READ_WRITE    ? RACED_READ_WRITE
           : class == RACE_WRITE_WRITE ? RACED_WRITE_WRITE
           : class == RACE_SAME_VALUE  ? RACED_SAME_VALUE
                                       : RACED_UNKNOWN;
}

Raced gr_exact_check_entry(Exact *x, Access *a, const Cell *cell, const Entry *e, uint32_t changed,
                           uint32_t lane, uint32_t bytes, uint64_t word) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *t = &x->shadow.stamps.data[e->stamp];
    uint32_t both = e->bytes & bytes;
    x->looks++;
    if (!both)
        return RACED_NOT;
    if (mine->mark & STAMP_FREED && t->mark & STAMP_ALLOCATED) // allocated.c judges them
        return RACED_NOT;
    if (a->view.launch->host && x->order.launches.data[t->at.launch]->host) // not the device's business
        return RACED_NOT;
    a->met_strong |= t->strong;
    if (a->late) // a shortened log (log.c) has reads behind the writes that came after them
        return RACED_NOT;
    if (mine->proxy != VM_PROXY_ASYNC && gr_exact_knows_stamp(x, a, e->stamp, t))
        return RACED_NOT;
    if (gr_exact_morally_strong(x, mine, t) && !((mine->mark | t->mark) & STAMP_VOLATILE))
        return RACED_NOT;
    Raced again = gr_exact_raced_again(x, a, e, changed, lane, both, word);
    if (again != RACED_UNKNOWN)
        return again;
    Raced said = RACED_NOT;
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        uint32_t u = (uint32_t)__builtin_ctz(m);
        uint32_t racing = both;
        RaceClass class;
        if (!races(x, a, cell, mine, t, u, &racing, &class))
            continue;
        // A read value says which access came first; a held load may have come before an access that it is told behind.
        if ((mine->access == PTX_ACCESS_READ || t->access == PTX_ACCESS_READ) &&
            !(a->event && a->event->held))
            gr_talk_raced(&x->order, &a->view, &t->at, u);
        if (class == RACE_WRITE_WRITE && (mine->mark & t->mark & STAMP_COMPARED) && !(changed & racing) &&
            gr_exact_is_silent(a, lane, word, racing))
            class = RACE_SAME_VALUE;
        a->raced = true;
        bool counted = gr_exact_report(x, a, lane, word, racing, e, u, class) && racing == both;
        said = counted && gr_exact_only_numbers_matter(x) ? raced_as(class) : RACED_UNKNOWN;
    }
    return said;
}

// The access and all of h are morally strong, volatile or not.
static bool are_alike(const Exact *x, const Access *a, History h, bool *some_volatile) {
    Alike i = gr_stamp_alike(&x->shadow.stamps.data[a->stamp]), they = gr_history_alike(&x->shadow, h);
    Alike both = gr_alike_both(i, they);
    *some_volatile = both.some_volatile;
    return both.strong && !x->several_devices;
}

bool gr_exact_all_strong(Exact *x, const Access *a, History h) {
    const Shadow *s = &x->shadow;
    bool some_volatile;
    return are_alike(x, a, h, &some_volatile) &&
           (!some_volatile ||
            (gr_history_alike(s, h).one_site &&
             gr_exact_has_counted(x, a, &s->stamps.data[a->stamp], &s->stamps.data[gr_history_stamp(s, h)])));
}

// Judges the volatile pairs of the access with h, all of which is morally strong with it. Each site goes through a long
// history once; its later accesses skip what is counted.
static void check_volatiles(Exact *x, Access *a, const Cell *cell, History h, uint32_t lane, uint32_t bytes,
                            uint64_t word) {
    Shadow *s = &x->shadow;
    uint32_t site = s->stamps.data[a->stamp].site;
    History from = h;
    while (h) {
        if (gr_history_pass_counted(s, &h, site))
            continue;
        Entry e;
        History here = h;
        (void)gr_history_next(s, &h, &e);
        if (gr_exact_has_counted(x, a, &s->stamps.data[a->stamp], &s->stamps.data[e.stamp]))
            continue;
        gr_history_note_counted(s, from, site, here);
        from = h;
        gr_exact_check_entry(x, a, cell, &e, 0, lane, bytes, word); // what it stores does not matter
    }
    gr_history_note_counted(s, from, site, 0);
}

// gr_exact_check_entry for a weak access, as far as the race has been found. RACED_UNKNOWN: look closer.
static Raced check_again(Exact *x, Access *a, const Entry *e, uint32_t changed, uint32_t lane, uint32_t bytes,
                         uint64_t word) {
    const Stamp *t = &x->shadow.stamps.data[e->stamp];
    x->looks++;
    if (t->strong)
        return RACED_UNKNOWN;
    return !(e->bytes & bytes) || gr_exact_knows_stamp(x, a, e->stamp, t)
               ? RACED_NOT
               : gr_exact_raced_again(x, a, e, changed, lane, e->bytes & bytes, word);
}

bool gr_exact_checks_again(Exact *x, Access *a, History h, uint32_t lane, uint32_t bytes, uint64_t word) {
    Entry e;
    uint32_t changed = 0;
    Settled settled;
    settled.n = 0;
    settled.bytes = bytes;
    if (a->late || (h >> 31 && !gr_history_sites(&x->shadow, h)))
        return false;
    for (History from = h; gr_history_next(&x->shadow, &h, &e); changed |= e.changed, from = h) {
        if (gr_exact_is_settled(x, &settled, &e))
            continue;
        Raced raced = check_again(x, a, &e, changed, lane, bytes, word);
        if (raced == RACED_UNKNOWN)
            return false;
        if (!h || gr_exact_settle(x, a, &settled, from, raced, &e, changed))
            break;
    }
    return true;
}

void gr_exact_check(Exact *x, Access *a, const Cell *cell, History h, uint32_t lane, uint32_t bytes,
                    uint64_t word) {
    Entry e;
    bool some_volatile;
    if (gr_exact_all_strong(x, a, h))
        return;
    bool alike = are_alike(x, a, h, &some_volatile);
    if (alike && x->shadow.stamps.data[a->stamp].site && gr_exact_counts_sites(x, a)) {
        check_volatiles(x, a, cell, h, lane, bytes, word);
        return;
    }
    uint32_t changed = 0; // bytes that newer ones than e changed
    Settled settled;
    settled.n = 0; // what the arrays hold does not matter
    settled.bytes = bytes;
    bool few = !(h >> 31) || gr_history_sites(&x->shadow, h);
    for (History from = h; gr_history_next(&x->shadow, &h, &e); changed |= e.changed, from = h) {
        if (gr_exact_is_settled(x, &settled, &e) ||
            (alike &&
             gr_exact_has_counted(x, a, &x->shadow.stamps.data[a->stamp], &x->shadow.stamps.data[e.stamp])))
            continue;
        Raced raced = gr_exact_check_entry(x, a, cell, &e, changed, lane, bytes, word);
        if (!h)
            break;
        if (few ? gr_exact_settle(x, a, &settled, from, raced, &e, changed)
                : raced == RACED_NOT && gr_exact_knows_the_rest(x, a, from, &e))
            break;
        gr_exact_pass_again(x, a, from, raced, &e, changed, bytes, &h);
    }
}

size_t gr_exact_heard(const Exact *x) { return x->heard; }
