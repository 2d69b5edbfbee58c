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
           a->proxy == b->proxy && a->size == b->size && a->elem == b->elem;
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
    return gr_mix64(gr_mix64((uint64_t)n->rest << 32 | n->stamp) + ((uint64_t)n->lanes << 4 | n->bytes));
}

static bool grow_index(Shadow *s) {
    size_t cap = s->index_cap ? s->index_cap * 2 : 1024;
    uint32_t *index = calloc(cap, sizeof *index);
    if (!index)
        return false;
    for (size_t k = 0; k < s->nodes.len; k++) {
        size_t at = hash_node(&s->nodes.data[k]) & (cap - 1);
        while (index[at])
            at = (at + 1) & (cap - 1);
        index[at] = (uint32_t)k + 1;
    }
    free(s->index);
    s->index = index;
    s->index_cap = cap;
    return true;
}

History gr_history_push(Shadow *s, History h, Entry e) {
    if (!h && e.bytes == ALL_BYTES && !(e.lanes & (e.lanes - 1)))
        return e.stamp << 5 | (uint32_t)__builtin_ctz(e.lanes);
    Node n = {.rest = h, .stamp = e.stamp, .lanes = e.lanes};
    n.bytes = e.bytes & ALL_BYTES;
    n.length = (gr_history_length(s, h) + 1) & ((1u << 28) - 1);
    if ((s->nodes.len + 1) * 2 > s->index_cap && !grow_index(s)) {
        s->nomem = true;
        return h;
    }
    size_t at = hash_node(&n) & (s->index_cap - 1);
    for (; s->index[at]; at = (at + 1) & (s->index_cap - 1)) {
        const Node *o = &s->nodes.data[s->index[at] - 1];
        if (o->rest == n.rest && o->stamp == n.stamp && o->lanes == n.lanes && o->bytes == n.bytes)
            return (s->index[at] - 1) | UINT32_C(1) << 31;
    }
    if (s->nodes.len >= INT32_MAX || !gr_vec_push(&s->nodes, n)) {
        s->nomem = true;
        return h;
    }
    s->index[at] = (uint32_t)s->nodes.len;
    return (uint32_t)(s->nodes.len - 1) | UINT32_C(1) << 31;
}
