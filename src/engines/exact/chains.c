// SPDX-License-Identifier: Apache-2.0
// chains — see chains.h.
#include "engines/exact/chains.h"

#include "base/rng.h"

#include <stdlib.h>

static uint64_t hash_node(const Node *n) {
    return gr_mix64(gr_mix64((uint64_t)n->rest << 32 | n->stamp) +
                    ((uint64_t)n->lanes << 8 | (uint64_t)n->changed << 4 | n->bytes));
}

static bool grow_index(Shadow *s) {
    size_t cap = s->index_cap ? s->index_cap * 2 : 1024;
    uint32_t *index = calloc(cap, sizeof *index);
    if (!index)
        return false;
    for (size_t k = 0; k < s->nodes.len; k++) {
        Node *n = &s->nodes.data[k];
        if (!n->refs || !n->interned)
            continue;
        uint32_t *bucket = &index[hash_node(n) & (cap - 1)];
        n->next = *bucket;
        *bucket = (uint32_t)k + 1;
    }
    free(s->index);
    s->index = index;
    s->index_cap = cap;
    return true;
}

// Takes an unused node. Yields its number and 1; 0: out of memory.
static uint32_t take_node(Shadow *s) {
    uint32_t number = s->free_node;
    if (number) {
        s->free_node = s->nodes.data[number - 1].next;
        return number;
    }
    if (s->nodes.len >= INT32_MAX || !gr_vec_push(&s->nodes, (Node){.rest = 0}))
        return 0;
    return (uint32_t)s->nodes.len;
}

void gr_history_free(Shadow *s, History h) {
    while (h >> 31) {
        uint32_t number = (h & INT32_MAX) + 1;
        Node *n = &s->nodes.data[number - 1];
        if (n->interned) {
            uint32_t *at = &s->index[hash_node(n) & (s->index_cap - 1)];
            while (*at != number)
                at = &s->nodes.data[*at - 1].next;
            *at = n->next;
        }
        n->next = s->free_node;
        s->free_node = number;
        s->live_nodes--;
        h = n->rest;
        if (!(h >> 31) || --s->nodes.data[h & INT32_MAX].refs)
            return;
    }
}

// Sets oldest of a node that is about to be made.
static void find_oldest(const Shadow *s, Node *n) {
    const Stamp *mine = &s->stamps.data[n->stamp],
                *t = n->rest ? &s->stamps.data[gr_history_stamp(s, n->rest)] : NULL;
    bool steady = true;
    if (t && !mine->strong && !t->strong && mine->site == t->site && mine->at.launch == t->at.launch &&
        mine->access == t->access && mine->mark == t->mark && mine->proxy == t->proxy) {
        n->oldest = gr_history_oldest_alike(s, n->rest, &steady);
        steady &= mine->mark & STAMP_COMPARED && !n->changed;
    }
    n->steady = steady;
}

// The set of the sites of h.
static uint32_t sites_of(Shadow *s, History h) {
    if (h >> 31)
        return s->nodes.data[h & INT32_MAX].sites;
    uint64_t key = h ? gr_stamp_site_key(&s->stamps.data[h >> 5], ALL_BYTES) : 0;
    return !h ? SITES_NONE : key ? gr_sites_with(&s->sites, SITES_NONE, key) : SITES_MANY;
}

static uint32_t lanes_of(const Shadow *s, History h) {
    return h >> 31 ? s->nodes.data[h & INT32_MAX].lanes : UINT32_C(1) << (h & 31);
}

// Sets what n and all older entries have in common (chains.h).
static void find_common(Shadow *s, Node *n) {
    const Stamp *mine = &s->stamps.data[n->stamp],
                *t = n->rest ? &s->stamps.data[gr_history_stamp(s, n->rest)] : NULL;
    uint64_t key = gr_stamp_site_key(mine, n->bytes);
    uint32_t sites = key ? gr_sites_with(&s->sites, sites_of(s, n->rest), key) : SITES_MANY;
    n->sites = sites & ((1u << SITES_NUMBER_BITS) - 1);
    uint32_t still = mine->mark & STAMP_COMPARED
                         ? gr_history_still(s, n->rest) & (t ? ~(uint32_t)n->changed : ALL_BYTES)
                         : 0;
    n->still = still & ALL_BYTES;
    n->alone =
        !mine->strong && (!t || (gr_history_is_alone(s, n->rest) && t->at.id == mine->at.id &&
                                 t->at.warp == mine->at.warp && t->at.launch == mine->at.launch &&
                                 t->at.epoch <= mine->at.epoch && !(lanes_of(s, n->rest) & ~n->lanes)));
}

History gr_history_push(Shadow *s, History h, Entry e, bool intern) {
    if (!h && e.bytes == ALL_BYTES && !(e.lanes & (e.lanes - 1)) && e.stamp < INLINE_STAMPS)
        return e.stamp << 5 | (uint32_t)__builtin_ctz(e.lanes);
    Node n = {.rest = h, .stamp = e.stamp, .lanes = e.lanes, .refs = 1};
    n.bytes = e.bytes & ALL_BYTES;
    n.interned = intern;
    n.changed = e.changed & ALL_BYTES;
    uint32_t left = gr_history_left(s, h);
    n.left = (left - (left != 0)) & HISTORY_LEFT;
    Alike mine = gr_stamp_alike(&s->stamps.data[e.stamp]), others = h ? gr_history_alike(s, h) : mine;
    Alike both = gr_alike_both(mine, others);
    n.strong = both.strong & 7;
    n.some_volatile = both.some_volatile;
    n.narrow = both.narrow;
    n.sizeless = both.sizeless;
    n.one_site = !h || (others.one_site &&
                        s->stamps.data[gr_history_stamp(s, h)].site == s->stamps.data[e.stamp].site);
    n.observes = gr_stamp_observes(&s->stamps.data[e.stamp]) || gr_history_observes(s, h);
    find_oldest(s, &n);
    find_common(s, &n);
    if (intern && (size_t)s->live_nodes + 1 > s->index_cap && !grow_index(s)) {
        s->nomem = true;
        return gr_history_retain(s, h);
    }
    uint32_t none = 0, *bucket = intern ? &s->index[hash_node(&n) & (s->index_cap - 1)] : &none;
    for (uint32_t k = *bucket; k; k = s->nodes.data[k - 1].next) {
        Node *o = &s->nodes.data[k - 1];
        if (o->rest == n.rest && o->stamp == n.stamp && o->lanes == n.lanes && o->bytes == n.bytes &&
            o->changed == n.changed) {
            o->refs++;
            return (k - 1) | UINT32_C(1) << 31;
        }
    }
    uint32_t number = take_node(s);
    if (!number) {
        s->nomem = true;
        return gr_history_retain(s, h);
    }
    n.next = *bucket;
    *bucket = number;
    (void)gr_history_retain(s, h);
    s->nodes.data[number - 1] = n;
    s->live_nodes++;
    return (number - 1) | UINT32_C(1) << 31;
}
