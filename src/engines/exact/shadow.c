// SPDX-License-Identifier: Apache-2.0
// shadow — see shadow.h.
#include "engines/exact/chains.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum {
    NEW_STAMPS = 1 << 16,  // at least so many between two collections
    VISITS = 8,            // at most so many histories and runs are gone through for each of them
    KEPT_BYTES = 64 << 20, // of pages that are not needed any more
};

// ---- Lines of global memory ----------------------------------------------------------------------------------------

void gr_shadow_init(Shadow *s, size_t step) {
    s->generation = s->age = 1;
    s->step = step;
    s->left = step ? step : NEW_STAMPS;
}

static void free_pages(Shadow *s) {
    for (size_t k = 0; k < s->regions.len; k++) {
        Region *r = s->regions.entries[k].value;
        for (size_t i = r->first; i < r->end; i++)
            free(r->pages[i]);
        free(r);
    }
    gr_map_free(&s->regions);
    memset(s->cached, 0, sizeof s->cached);
    while (s->slabs.len)
        free(s->slabs.data[--s->slabs.len]);
    gr_vec_free(&s->runs);
    gr_vec_free(&s->nodes);
    gr_vec_free(&s->stamps);
    gr_tables_free(&s->tables);
    gr_sites_free(&s->sites);
    free(s->index);
    free(s->used);
    s->used = NULL;
    s->index = NULL;
    s->index_cap = 0;
    s->bytes = 0;
}

static void free_tiles(Shadow *s) {
    for (Tile *t = s->free_tiles, *next; t; t = next) {
        next = t->next_free;
        free(t->lines);
        free(t->made);
        s->log_bytes -= t->log_cap;
        free(t->log);
        gr_board_free(&t->board);
        free(t->watched);
        gr_vec_free(&t->watches);
        free(t);
    }
    s->free_tiles = NULL;
}

void gr_shadow_clear(Shadow *s) {
    free_tiles(s);
    if (s->bytes + s->stamps.cap * sizeof(Stamp) + s->runs.cap * sizeof(Run) + s->nodes.cap * sizeof(Node) +
            s->slabs.len * SLAB_LINES * LINE_CELLS * sizeof(Cell) + gr_tables_bytes(&s->tables) >
        KEPT_BYTES)
        free_pages(s);
    gr_tables_clear(&s->tables);
    s->planted.len = 0;
    memset(s->recent, 0, sizeof s->recent);
    s->generation++;
    s->age++;
    s->used_to = s->next_unused = 0;
    s->left = s->step ? s->step : NEW_STAMPS;
    s->stamps.len = s->nodes.len = s->runs.len = 0;
    s->free_node = s->free_run = s->free_chains = 0;
    s->free_cells = NULL;
    s->used_slabs = s->slab_left = 0;
    if (s->index && s->live_nodes)
        memset(s->index, 0, s->index_cap * sizeof *s->index);
    s->live_nodes = 0;
}

void gr_shadow_free(Shadow *s) {
    free_pages(s);
    free_tiles(s);
    gr_vec_free(&s->slabs);
    gr_vec_free(&s->planted);
}

Line *gr_shadow_new_line(Shadow *s, uint64_t address) {
    uint64_t page = address >> PAGE_SHIFT, number = page / REGION_PAGES;
    unsigned slot = (unsigned)(number % CACHED_REGIONS);
    if (s->cached[slot].number != number + 1) {
        Region *r = gr_map_get_u64(&s->regions, number);
        if (!r) {
            r = calloc(1, sizeof *r);
            if (!r || !gr_map_put_u64(&s->regions, number, r)) {
                free(r);
                s->nomem = true;
                return NULL;
            }
        }
        s->cached[slot].number = number + 1;
        s->cached[slot].region = r;
    }
    Region *region = s->cached[slot].region;
    uint32_t index = (uint32_t)(page % REGION_PAGES);
    Page **at = &region->pages[index], *p = *at;
    if (!p) {
        p = malloc(sizeof *p);
        if (!p) {
            s->nomem = true;
            return NULL;
        }
        *at = p;
        region->first = !region->end || index < region->first ? index : region->first;
        region->end = index >= region->end ? index + 1 : region->end;
        s->bytes += sizeof *p;
        p->generation = 0;
    }
    if (p->generation != s->generation) {
        memset(p->lines, 0, sizeof p->lines);
        p->generation = s->generation;
        if (s->planted.len)
            gr_shadow_plant_page(s, p, page << PAGE_SHIFT);
    }
    return &p->lines[address / LINE_BYTES % PAGE_LINES];
}

Page *gr_shadow_page(Shadow *s, uint64_t at, uint64_t *next) {
    uint64_t page = at >> PAGE_SHIFT;
    const Region *r = gr_map_get_u64(&s->regions, page / REGION_PAGES);
    Page *p = r ? r->pages[page % REGION_PAGES] : NULL;
    *next = r ? (page + 1) << PAGE_SHIFT : ((page / REGION_PAGES + 1) * REGION_PAGES) << PAGE_SHIFT;
    return p && p->generation == s->generation ? p : NULL;
}

Line *gr_shadow_next_line(Shadow *s, uint64_t *address, uint64_t end) {
    static const Line empty;
    uint64_t at = *address & ~(uint64_t)(LINE_BYTES - 1);
    while (at < end) {
        uint64_t next;
        Page *p = gr_shadow_page(s, at, &next);
        if (!p)
            at = next;
        else if (!memcmp(&p->lines[at / LINE_BYTES % PAGE_LINES], &empty, sizeof empty))
            at += LINE_BYTES;
        else {
            *address = at;
            return &p->lines[at / LINE_BYTES % PAGE_LINES];
        }
    }
    return NULL;
}

uint64_t gr_shadow_bytes(const Shadow *s) {
    return s->bytes + s->log_bytes + s->regions.len * sizeof(Region) + s->stamps.len * sizeof(Stamp) +
           s->runs.len * sizeof(Run) + s->nodes.len * sizeof(Node) + s->index_cap * sizeof *s->index +
           s->slabs.len * SLAB_LINES * LINE_CELLS * sizeof(Cell) + gr_tables_bytes(&s->tables) +
           (s->used ? s->stamps.len / 8 : 0);
}

// ---- Runs and cells ------------------------------------------------------------------------------------------------

static bool is_older_of_warp(const Stamp *t, const Stamp *s) {
    return t->at.id == s->at.id && t->at.warp == s->at.warp && t->at.launch == s->at.launch &&
           t->at.epoch <= s->at.epoch;
}

bool gr_run_is_alike(const Shadow *s, const Run *r, uint32_t stamp, Shape shape) {
    return is_older_of_warp(&s->stamps.data[r->stamp], &s->stamps.data[stamp]) && gr_run_lies(r, shape) &&
           gr_run_says(r, SHAPE_ALIKE);
}

void gr_run_placed(Shadow *s, Line *line, unsigned side) {
    Run *first = &line->side[side];
    first->shape &= ~(Shape)(SHAPE_ALONE | SHAPE_ALIKE);
    if (!first->next)
        return;
    const Run *r = &s->runs.data[first->next - 1];
    if (gr_run_says(r, SHAPE_ALONE) &&
        is_older_of_warp(&s->stamps.data[r->stamp], &s->stamps.data[first->stamp]))
        first->shape |= SHAPE_ALONE | (gr_run_is_alike(s, r, first->stamp, first->shape) ? SHAPE_ALIKE : 0);
}

void gr_run_all_placed(Shadow *s, Line *line, unsigned side) {
    Run *alone = &line->side[side],
        *alike = alone; // from these on all are so, as far as they have been looked at
    for (Run *r = alone, *next; r->next; r = next) {
        next = &s->runs.data[r->next - 1];
        if (!is_older_of_warp(&s->stamps.data[next->stamp], &s->stamps.data[r->stamp]))
            alone = alike = next;
        else if (!gr_run_lies(next, r->shape))
            alike = next;
    }
    Shape says = 0;
    for (Run *r = &line->side[side];; r = &s->runs.data[r->next - 1]) {
        says |= (r == alone ? SHAPE_ALONE : 0) | (r == alike ? SHAPE_ALIKE : 0);
        r->shape = (r->shape & ~(Shape)(SHAPE_ALONE | SHAPE_ALIKE)) | says;
        if (!r->next)
            return;
    }
}

uint32_t gr_run_take(Shadow *s, Run r) {
    uint32_t number = s->free_run;
    if (!number && (number = s->free_chains))
        s->free_chains = s->runs.data[number - 1].stamp;
    if (number) {
        s->free_run = s->runs.data[number - 1].next;
        if (s->free_run)
            __builtin_prefetch(&s->runs.data[s->free_run - 1], 1);
        s->runs.data[number - 1] = r;
    } else if (s->runs.len < UINT32_MAX - 1 && gr_vec_push(&s->runs, r)) {
        number = (uint32_t)s->runs.len;
    } else {
        s->nomem = true;
    }
    return number;
}

void gr_run_push(Shadow *s, Line *line, unsigned side, uint32_t stamp, uint32_t lanes, Shape shape) {
    Run mine = {.stamp = stamp, .lanes = lanes, .shape = shape}, *first = &line->side[side];
    uint16_t length = first->stamp ? line->length[side] : 0;
    if (first->stamp && !(mine.next = gr_run_take(s, *first)))
        return;
    line->length[side] = length < UINT16_MAX ? length + 1 : length;
    *first = mine;
    gr_run_placed(s, line, side);
}

void gr_run_drop(Shadow *s, uint32_t *link) {
    uint32_t number = *link;
    Run *r = &s->runs.data[number - 1];
    *link = r->next;
    r->next = s->free_run;
    s->free_run = number;
}

static Cell *take_cells(Shadow *s) {
    Cell *c = s->free_cells;
    if (c) {
        memcpy(&s->free_cells, (const void *)c, sizeof s->free_cells);
    } else {
        if (!s->slab_left) {
            if (s->used_slabs == s->slabs.len) {
                c = malloc(SLAB_LINES * LINE_CELLS * sizeof *c);
                if (!c || !gr_vec_push(&s->slabs, c)) {
                    free(c);
                    s->nomem = true;
                    return NULL;
                }
            }
            s->used_slabs++;
            s->slab_left = SLAB_LINES;
        }
        c = s->slabs.data[s->used_slabs - 1] + (size_t)--s->slab_left * LINE_CELLS;
    }
    memset(c, 0, LINE_CELLS * sizeof *c);
    return c;
}

void gr_line_reset(Shadow *s, Line *l, bool shared) {
    (void)shared;
    if (gr_line_has_cells(l)) {
        Cell *c = l->wide.cells;
        for (unsigned k = 0; k < LINE_CELLS; k++) {
            gr_history_release(s, c[k].writes);
            gr_history_release(s, c[k].reads);
        }
        memcpy((void *)c, &s->free_cells, sizeof s->free_cells);
        s->free_cells = c;
    } else {
        for (unsigned k = 0; k < 2; k++) {
            uint32_t chain = l->side[k].next;
            if (!chain)
                continue;
            s->runs.data[chain - 1].stamp = s->free_chains;
            s->free_chains = chain;
        }
    }
    memset(l, 0, sizeof *l);
}

// Enters the run into cells, word by word and lane by lane.
static void spread(Shadow *s, Cell *cells, unsigned side, Run r, bool shared) {
    Form form = gr_shape_form(r.shape);
    int base = gr_shape_base(r.shape), stride = gr_shape_stride(r.shape);
    int size = form < FORM_SAME     ? 1 << form
               : form == FORM_WHOLE ? LINE_BYTES
                                    : (int)s->stamps.data[r.stamp].size;
    bool whole = form >= FORM_STEP2 && form <= FORM_STEP4 && r.stamp < INLINE_STAMPS;
    for (uint32_t m = r.lanes, together; m; m &= ~together) {
        int from = base + (int)gr_shape_place(r.shape, (uint32_t)__builtin_ctz(m)) * stride, to = from + size;
        // Each lane has an entry of its own.
        together = form == FORM_TWICE ? m & -m : gr_shape_together(r.shape, m);
        Cell *c = &cells[from / CELL_BYTES];
        for (int k = 0; whole && k < size / CELL_BYTES; k++)
            whole = !(side ? c[k].reads : c[k].writes);
        for (int k = 0; whole && k < size / CELL_BYTES; k++)
            *(side ? &c[k].reads : &c[k].writes) = r.stamp << 5 | (uint32_t)__builtin_ctz(m);
        if (whole)
            continue;
        for (int word = from / CELL_BYTES; word * CELL_BYTES < to && word < LINE_CELLS; word++) {
            int a = from > word * CELL_BYTES ? from - word * CELL_BYTES : 0,
                b = to - word * CELL_BYTES < CELL_BYTES ? to - word * CELL_BYTES : CELL_BYTES;
            uint32_t bytes = ((1u << b) - 1) & ~((1u << a) - 1);
            Entry e = {r.stamp, together, bytes, side || r.shape & SHAPE_SILENT ? 0 : bytes};
            History *h = side ? &cells[word].reads : &cells[word].writes, longer;
            longer = gr_history_push(s, *h, e, !shared);
            gr_history_release(s, *h);
            *h = longer;
        }
    }
}

Cell *gr_line_widen(Shadow *s, Line *l, bool shared) {
    Cell *cells = take_cells(s);
    if (!cells)
        return NULL;
    Line old = *l;
    for (unsigned k = 0; k < 2; k++) {
        if (!old.side[k].stamp)
            continue;
        // Oldest first: turn the chain around.
        uint32_t turned = 0;
        for (uint32_t at = old.side[k].next, next; at; at = next) {
            next = s->runs.data[at - 1].next;
            s->runs.data[at - 1].next = turned;
            turned = at;
        }
        uint32_t again = 0;
        while (turned) {
            Run *r = &s->runs.data[turned - 1];
            spread(s, cells, k, *r, shared);
            if (r->shape & SHAPE_AGAIN) {
                uint32_t next = r->next;
                r->next = again;
                again = turned;
                turned = next;
                continue;
            }
            gr_run_drop(s, &turned);
        }
        spread(s, cells, k, old.side[k], shared);
        while (again) {
            s->runs.data[again - 1].shape &= ~(Shape)SHAPE_SILENT;
            spread(s, cells, k, s->runs.data[again - 1], shared);
            gr_run_drop(s, &again);
        }
    }
    memset(l->side, 0, sizeof l->side);
    l->wide.mark.shape = gr_shape(FORM_CELLS, 0);
    l->wide.cells = cells;
    gr_line_written(s, l);
    return cells;
}

// ---- Tiles ---------------------------------------------------------------------------------------------------------

Tile *gr_shadow_new_tile(Shadow *s, Block *owner) {
    uint32_t n = owner->launch->shared_bytes / LINE_BYTES + 1;
    Tile *t = s->free_tiles;
    if (t && t->n_lines == n) {
        s->free_tiles = t->next_free;
    } else {
        t = calloc(1, sizeof *t);
        if (t) {
            t->lines = calloc(n, sizeof *t->lines);
            t->made = calloc(n, sizeof *t->made);
            t->n_lines = n;
        }
        if (!t || !t->lines || !t->made) {
            if (t) {
                free(t->lines);
                free(t->made);
            }
            free(t);
            s->nomem = true;
            return NULL;
        }
    }
    t->generation++;
    t->phase = PHASE_FRESH;
    t->epoch = owner->floor;
    t->elem = 0;
    t->narrowest = BOARD_GRAIN;
    if (t->launch != owner->launch->number) {
        t->launch = owner->launch->number;
        t->grain = BOARD_GRAIN;
    }
    t->async = t->watching = false;
    t->watches.len = 0;
    t->log_len = 0;
    return owner->tile = t;
}

void gr_shadow_forget(Shadow *s, Block *b) {
    Tile *t = b->tile;
    b->tile = NULL;
    if (!t)
        return;
    for (uint32_t k = 0; k < t->n_lines; k++)
        if (gr_line_has_cells(&t->lines[k]) || t->lines[k].side[0].next || t->lines[k].side[1].next)
            gr_line_reset(s, &t->lines[k], true);
    if (s->free_tiles && s->free_tiles->n_lines != t->n_lines)
        free_tiles(s);
    t->next_free = s->free_tiles;
    s->free_tiles = t;
}

// ---- Stamps --------------------------------------------------------------------------------------------------------

static bool same_stamp(const Stamp *a, const Stamp *b) {
    return a->at.id == b->at.id && a->at.epoch == b->at.epoch && a->at.warp == b->at.warp &&
           a->site == b->site && a->access == b->access && a->strong == b->strong && a->scope == b->scope &&
           a->proxy == b->proxy && a->size == b->size && a->elem == b->elem && a->mark == b->mark;
}

// The number of an unused stamp; 0: there is none.
static uint32_t unused_stamp(Shadow *s) {
    for (size_t word = s->next_unused / 64; word * 64 < s->used_to; word++) {
        uint64_t left = ~s->used[word];
        if (left) {
            size_t number = word * 64 + (size_t)__builtin_ctzll(left);
            s->next_unused = number;
            if (number >= s->used_to)
                break;
            s->used[word] |= left & -left;
            return (uint32_t)number;
        }
    }
    s->used_to = 0;
    return 0;
}

uint32_t gr_shadow_new_stamp(Shadow *s, const Stamp *want, uint64_t moment) {
    uint32_t number = s->used_to ? unused_stamp(s) : 0;
    if (!number) {
        if ((!s->stamps.len && !gr_vec_push(&s->stamps, (Stamp){.site = 0})) || s->stamps.len >= UINT32_MAX ||
            !gr_vec_reserve(&s->stamps, s->stamps.len + 1)) {
            s->nomem = true;
            return 0;
        }
        number = (uint32_t)s->stamps.len++;
    }
    s->left -= s->left != 0;
    Stamp *mine = &s->stamps.data[number];
    *mine = *want;
    gr_stamp_begin(mine, moment);
    return number;
}

static void use(Shadow *s, uint32_t stamp) { s->used[stamp / 64] |= UINT64_C(1) << stamp % 64; }

// Nodes are gone through on their own.
static void use_inline(Shadow *s, History h) {
    if (!(h >> 31))
        use(s, h >> 5);
}

static void use_line(Shadow *s, const Line *l) {
    s->gone_through += 2;
    if (gr_line_has_cells(l)) {
        s->gone_through += 2 * LINE_CELLS;
        for (unsigned k = 0; k < LINE_CELLS; k++) {
            use_inline(s, l->wide.cells[k].writes);
            use_inline(s, l->wide.cells[k].reads);
        }
        return;
    }
    for (unsigned k = 0; k < 2; k++)
        for (const Run *r = &l->side[k];; r = &s->runs.data[r->next - 1], s->gone_through++) {
            use(s, r->stamp);
            if (!r->next)
                break;
        }
}

static void use_tables(Shadow *s) {
    for (size_t k = 0; k < s->tables.list.len; k++) {
        const Table *t = &s->tables.list.data[k];
        s->gone_through += 2 * gr_table_count(t->shift);
        for (unsigned e = 0; e < gr_table_count(t->shift); e++) {
            use_inline(s, t->first[e]);
            use_inline(s, t->two[e / 64] >> e % 64 & 1 ? t->second[e] : 0);
        }
    }
}

void gr_shadow_collect_begin(Shadow *s) {
    free(s->used);
    s->used = calloc(s->stamps.len / 64 + 1, sizeof *s->used);
    s->used_to = s->next_unused = 0;
    if (!s->used) { // another time
        s->left = s->stamps.len;
        return;
    }
    s->gone_through = s->nodes.len;
    use(s, 0);
    for (size_t k = 0; k < s->planted.len; k++)
        use(s, s->planted.data[k].stamp);
    for (size_t k = 0; k < s->regions.len; k++) {
        const Region *r = s->regions.entries[k].value;
        for (size_t i = r->first; i < r->end; i++)
            for (size_t n = 0; r->pages[i] && r->pages[i]->generation == s->generation && n < PAGE_LINES; n++)
                use_line(s, &r->pages[i]->lines[n]);
    }
    for (size_t k = 0; k < s->nodes.len; k++)
        if (s->nodes.data[k].refs) {
            use(s, s->nodes.data[k].stamp);
            use_inline(s, s->nodes.data[k].rest); // the oldest entry of a chain may have no node of its own
        }
    use_tables(s);
}

void gr_shadow_collect_tile(Shadow *s, const Tile *t) {
    for (uint32_t k = 0; s->used && k < t->n_lines; k++)
        if (t->made[k] == t->generation)
            use_line(s, &t->lines[k]);
}

// A wrong reference to a number that is given back finds no thread and no knowledge there: checks.c notices.
static void give_back(Shadow *s, size_t word) {
    for (uint64_t m = ~s->used[word]; m; m &= m - 1) {
        size_t number = word * 64 + (size_t)__builtin_ctzll(m);
        if (number >= s->stamps.len)
            break;
        s->stamps.data[number].at.id = 0;
        s->stamps.data[number].at.epoch = UINT32_MAX;
    }
}

void gr_shadow_collect_end(Shadow *s) {
    if (!s->used)
        return;
    size_t live = 0, words = s->stamps.len / 64 + 1;
    for (size_t k = 0; k < words; k++) {
        live += (size_t)__builtin_popcountll(s->used[k]);
        give_back(s, k);
    }
    s->used_to = s->stamps.len;
    s->collections++;
    // As many new stamps as pay for going through everything, and for twice the live ones.
    size_t pays = s->gone_through / VISITS > live ? s->gone_through / VISITS : live;
    s->left = s->step ? s->step : pays > NEW_STAMPS ? pays : NEW_STAMPS;
    memset(s->recent, 0, sizeof s->recent);
    s->age++;
}

uint32_t gr_shadow_stamp(Shadow *s, const Stamp *want, uint64_t moment) {
    uint64_t hash = gr_mix64((want->at.id << 5 | want->at.warp) * UINT64_C(0x9e3779b97f4a7c15) +
                             ((uint64_t)want->site << 32 | want->at.epoch));
    uint32_t *recent = &s->recent[hash % CACHED_STAMPS];
    if (*recent && same_stamp(&s->stamps.data[*recent], want)) {
        gr_stamp_use(&s->stamps.data[*recent], moment);
        return *recent;
    }
    return *recent = gr_shadow_new_stamp(s, want, moment);
}
