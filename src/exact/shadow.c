// SPDX-License-Identifier: Apache-2.0
// shadow — see shadow.h.
#include "exact/shadow.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STAMPS = 1 << 26 };

// ---- Memory --------------------------------------------------------------------------------------------------------

static void free_pages(Shadow *s) {
    for (size_t k = 0; k < s->pages.len; k++)
        if (s->pages.entries[k].live)
            free(s->pages.entries[k].value);
    gr_map_free(&s->pages);
    memset(s->cached, 0, sizeof s->cached);
    s->bytes = 0;
}

void gr_shadow_clear(Shadow *s) {
    free_pages(s);
    memset(s->recent, 0, sizeof s->recent);
    s->stamps.len = s->nodes.len = 0;
    s->free_node = s->live_nodes = 0;
    if (s->index)
        memset(s->index, 0, s->index_cap * sizeof *s->index);
}

void gr_shadow_free(Shadow *s) {
    free_pages(s);
    gr_vec_free(&s->stamps);
    gr_vec_free(&s->nodes);
    free(s->index);
}

Cell *gr_shadow_global(Shadow *s, uint64_t address) {
    uint64_t word = address / CELL_BYTES, page = word / PAGE_WORDS;
    unsigned slot = (unsigned)(page % CACHED_PAGES);
    if (s->cached[slot].number != page + 1) {
        Cell *cells = gr_map_get_u64(&s->pages, page);
        if (!cells) {
            cells = calloc(PAGE_WORDS, sizeof *cells);
            if (!cells || !gr_map_put_u64(&s->pages, page, cells)) {
                free(cells);
                s->nomem = true;
                return NULL;
            }
            s->bytes += PAGE_WORDS * sizeof *cells;
        }
        s->cached[slot].number = page + 1;
        s->cached[slot].cells = cells;
    }
    return &s->cached[slot].cells[word % PAGE_WORDS];
}

Cell *gr_shadow_shared(Shadow *s, Block *owner, uint64_t offset) {
    uint64_t word = offset / CELL_BYTES;
    if (!owner->shadow) {
        owner->shadow_words = owner->launch->shared_bytes / CELL_BYTES + 1;
        owner->shadow = calloc(owner->shadow_words, sizeof(Cell));
    }
    if (!owner->shadow || word >= owner->shadow_words) {
        s->nomem = true;
        return NULL;
    }
    return (Cell *)owner->shadow + word;
}

// ---- Stamps --------------------------------------------------------------------------------------------------------

static bool same_stamp(const Stamp *a, const Stamp *b) {
    return a->at.id == b->at.id && a->at.epoch == b->at.epoch && a->at.warp == b->at.warp &&
           a->site == b->site && a->access == b->access && a->strong == b->strong && a->scope == b->scope &&
           a->proxy == b->proxy && a->size == b->size && a->elem == b->elem && a->mark == b->mark;
}

uint32_t gr_shadow_stamp(Shadow *s, const Stamp *want, uint64_t moment) {
    uint64_t hash = gr_mix64((want->at.id << 5 | want->at.warp) * UINT64_C(0x9e3779b97f4a7c15) +
                             ((uint64_t)want->site << 32 | want->at.epoch));
    uint32_t *recent = &s->recent[hash % CACHED_STAMPS];
    if (*recent && same_stamp(&s->stamps.data[*recent], want)) {
        s->stamps.data[*recent].last = moment;
        return *recent;
    }
    Stamp mine = *want;
    mine.first = mine.last = moment;
    if ((!s->stamps.len && !gr_vec_push(&s->stamps, (Stamp){.site = 0})) || s->stamps.len >= MAX_STAMPS ||
        !gr_vec_push(&s->stamps, mine)) {
        s->nomem = true;
        return 0;
    }
    return *recent = (uint32_t)s->stamps.len - 1;
}

// ---- Histories -----------------------------------------------------------------------------------------------------

static uint64_t hash_node(const Node *n) {
    return gr_mix64(gr_mix64((uint64_t)n->rest << 32 | n->stamp) +
                    ((uint64_t)n->lanes << 5 | (uint64_t)n->silent << 4 | n->bytes));
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

// The number of an unused node, and 1; 0: out of memory.
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

History gr_history_push(Shadow *s, History h, Entry e, bool intern) {
    if (!h && e.bytes == ALL_BYTES && !(e.lanes & (e.lanes - 1)))
        return e.stamp << 5 | (uint32_t)__builtin_ctz(e.lanes);
    Node n = {.rest = h, .stamp = e.stamp, .lanes = e.lanes, .refs = 1};
    n.bytes = e.bytes & ALL_BYTES;
    n.interned = intern;
    n.silent = e.silent;
    n.length = (gr_history_length(s, h) + 1) & ((1u << 26) - 1);
    if (intern && (size_t)s->live_nodes + 1 > s->index_cap && !grow_index(s)) {
        s->nomem = true;
        return gr_history_retain(s, h);
    }
    uint32_t none = 0, *bucket = intern ? &s->index[hash_node(&n) & (s->index_cap - 1)] : &none;
    for (uint32_t k = *bucket; k; k = s->nodes.data[k - 1].next) {
        Node *o = &s->nodes.data[k - 1];
        if (o->rest == n.rest && o->stamp == n.stamp && o->lanes == n.lanes && o->bytes == n.bytes &&
            o->silent == n.silent) {
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

void gr_shadow_forget(Shadow *s, Block *b) {
    Cell *cells = b->shadow;
    for (uint64_t k = 0; cells && k < b->shadow_words; k++) {
        gr_history_release(s, cells[k].writes);
        gr_history_release(s, cells[k].reads);
    }
    free(cells);
    b->shadow = NULL;
}
