// SPDX-License-Identifier: Apache-2.0
// tables — see tables.h: their memory, and what they hold.
//
// Which accesses of one instruction to one element have to be remembered (history.c says why):
//
// - One that is known to a later one of the same instruction need not be: an access that races with the earlier races
//   with the later. Every access of a table's last launch knows all accesses of the launches before; an access of a
//   launch that does not is not taken.
// - Where nothing orders the blocks of a launch among themselves, two reads by different blocks stand for all others.
//
// So an element has two places. The second may hold several reads that nothing orders, of lanes here and there
// (reads.c): those of the warps of the block that comes first. A read that neither takes the place of one nor finds
// room is not taken.
//
// Of writes, those of earlier launches are moved here, one for each element. Which of them stored last is not known any
// more, so a race with one is never called a same-value write.
#include "base/rng.h"
#include "engines/exact/tables_internal.h"

#include <stdlib.h>
#include <string.h>

// MANY_TABLES: for the reads of a line. If one warp reads there by more instructions, chains tell that (chains.h).
enum { MANY_TABLES = 16, SLAB_ELEMENTS = 1 << 16, FIRST_INDEX = 1 << 10, NUMBER_BITS = 32 };

// ---- Memory --------------------------------------------------------------------------------------------------------

static uint64_t hash_of(const void *line, uint64_t kind) {
    return gr_mix64((uint64_t)(uintptr_t)line * UINT64_C(0x9e3779b97f4a7c15) + kind);
}

static bool grow_index(Tables *r) {
    size_t cap = r->index_cap ? r->index_cap * 2 : FIRST_INDEX;
    uint64_t *index = calloc(cap, sizeof *index);
    if (!index)
        return false;
    for (size_t k = 0; k < r->list.len; k++) {
        uint64_t hash = hash_of(r->list.data[k].line, r->list.data[k].kind);
        size_t at = hash & (cap - 1);
        while (index[at])
            at = (at + 1) & (cap - 1);
        index[at] = hash >> NUMBER_BITS << NUMBER_BITS | (k + 1);
    }
    free(r->index);
    r->index = index;
    r->index_cap = cap;
    return true;
}

// The slot of the index where that table is, or would be.
static uint64_t *slot_of(const Tables *r, uint64_t hash, const void *line, uint64_t kind) {
    size_t at = hash & (r->index_cap - 1);
    for (; r->index[at]; at = (at + 1) & (r->index_cap - 1)) {
        if ((r->index[at] ^ hash) >> NUMBER_BITS)
            continue;
        const Table *t = &r->list.data[(uint32_t)r->index[at] - 1];
        if (t->line == line && t->kind == kind)
            break;
    }
    return &r->index[at];
}

Table *gr_tables_find(const Tables *r, const void *line, uint64_t kind) {
    uint64_t *slot = r->index_cap ? slot_of(r, hash_of(line, kind), line, kind) : NULL;
    return slot && *slot ? &r->list.data[(uint32_t)*slot - 1] : NULL;
}

Table *gr_tables_get(Tables *r, const void *line, uint64_t kind, uint32_t shift, uint32_t *first) {
    if (r->list.len * 2 >= r->index_cap && !grow_index(r))
        return NULL;
    uint64_t hash = hash_of(line, kind), *slot = slot_of(r, hash, line, kind);
    if (*slot)
        return &r->list.data[(uint32_t)*slot - 1];
    Table t = {
        .line = line, .kind = kind, .next = *first, .shift = shift, .first = gr_tables_elements(r, shift)};
    if (!t.first || r->list.len >= UINT32_MAX - 1 || !gr_vec_push(&r->list, t))
        return NULL;
    *first = (uint32_t)r->list.len;
    *slot = hash >> NUMBER_BITS << NUMBER_BITS | r->list.len;
    return &r->list.data[r->list.len - 1];
}

uint32_t *gr_tables_elements(Tables *r, uint32_t shift) {
    size_t n = gr_table_count(shift);
    if (!r->used_slabs || r->used + n > SLAB_ELEMENTS) {
        if (r->used_slabs == r->slabs.len) {
            uint32_t *slab = malloc(SLAB_ELEMENTS * sizeof *slab);
            if (!slab || !gr_vec_push(&r->slabs, slab)) {
                free(slab);
                return NULL;
            }
        }
        r->used_slabs++;
        r->used = 0;
    }
    uint32_t *e = r->slabs.data[r->used_slabs - 1] + r->used;
    r->used += n;
    memset(e, 0, n * sizeof *e);
    return e;
}

size_t gr_tables_bytes(const Tables *r) {
    return r->list.cap * sizeof *r->list.data + r->index_cap * sizeof *r->index +
           r->slabs.len * SLAB_ELEMENTS * sizeof **r->slabs.data;
}

void gr_tables_free(Tables *r) {
    for (size_t k = 0; k < r->slabs.len; k++)
        free(r->slabs.data[k]);
    gr_vec_free(&r->slabs);
    gr_vec_free(&r->list);
    free(r->index);
    *r = (Tables){.age = r->age + 1};
}

void gr_tables_clear(Tables *r) {
    if (r->list.len)
        memset(r->index, 0, r->index_cap * sizeof *r->index);
    r->list.len = 0;
    r->used_slabs = r->used = 0;
    r->age++;
}

// ---- Elements ------------------------------------------------------------------------------------------------------

static uint64_t kind_of(const Stamp *s, uint32_t shift) {
    return (uint64_t)s->site << 24 | (uint64_t)s->elem << 16 | s->mark << 8 | shift;
}

static uint32_t *changed_of(Tables *r, const void *line) {
    return &r->changed[gr_mix64((uint64_t)(uintptr_t)line) % TABLE_LINES];
}

Table *gr_table_ready(Exact *x, Table *t, const Stamp *mine) {
    uint32_t launch = mine->at.launch;
    if (t->launch == launch + 1)
        return t;
    if (t->launch && !gr_exact_knows_launch(x, launch, t->launch - 1))
        return mine->access != PTX_ACCESS_READ && gr_exact_knows_launch(x, t->launch - 1, launch) ? t : NULL;
    if (t->launch)
        (*changed_of(&x->shadow.tables, t->line))++;
    t->launch = launch + 1;
    memset(t->fresh, 0, sizeof t->fresh);
    memset(t->told, 0, sizeof t->told);
    return t;
}

Table *gr_table_for(Exact *x, Line *line, const Stamp *mine, uint32_t shift) {
    uint32_t *first = &line->tables[mine->access == PTX_ACCESS_READ];
    Table *t = gr_tables_get(&x->shadow.tables, line, kind_of(mine, shift), shift, first);
    return t ? gr_table_ready(x, t, mine) : NULL;
}

bool gr_table_fits(const Exact *x, uint32_t stamp) {
    const Stamp *s = &x->shadow.stamps.data[stamp];
    return gr_stamp_fits_table(s, stamp) && !x->order.launches.data[s->at.launch]->host;
}

uint32_t gr_exact_done_again(const Exact *x, const Line *line, const Run *r) {
    const Shadow *sh = &x->shadow;
    const Stamp *s = &sh->stamps.data[r->stamp];
    uint32_t shift = s->size ? (uint32_t)__builtin_ctz(s->size) : 0, again = 0;
    if (!s->site || !gr_table_fits(x, r->stamp))
        return 0;
    const Table *t = gr_tables_find(&sh->tables, line, kind_of(s, shift));
    int base = gr_shape_base(r->shape), step = gr_shape_stride(r->shape);
    for (uint32_t m = t ? r->lanes : 0; m; m = step ? m & (m - 1) : 0) {
        History h = t->first[(unsigned)(base + __builtin_ctz(m) * step) >> shift];
        uint32_t later = h ? sh->stamps.data[gr_history_stamp(sh, h)].at.launch : s->at.launch;
        if (later != s->at.launch && gr_exact_knows_launch(x, later, s->at.launch))
            again |= step ? m & -m : r->lanes;
    }
    return again;
}

bool gr_exact_has_many_tables(const Exact *x, const Line *line) {
    unsigned n = 0;
    for (uint32_t k = line->tables[1]; k && n < MANY_TABLES; k = x->shadow.tables.list.data[k - 1].next)
        n++;
    return n == MANY_TABLES;
}

// ---- Writes of earlier launches ------------------------------------------------------------------------------------

// Puts the write where it replaces what is there, or what is there replaces it. False: the two know nothing of each
// other.
static bool retire(Exact *x, Table *t, unsigned e, History h, uint32_t launch) {
    Shadow *s = &x->shadow;
    uint32_t other = t->first[e] ? s->stamps.data[gr_history_stamp(s, t->first[e])].at.launch : launch;
    if (t->first[e] == h || (other != launch && gr_exact_knows_launch(x, other, launch)))
        return true;
    if (t->first[e] && (other == launch || !gr_exact_knows_launch(x, launch, other)))
        return false;
    gr_history_set(s, &t->first[e], h);
    return true;
}

uint32_t gr_exact_retire(Exact *x, Line *line, uint32_t stamp, uint32_t lanes, Shape shape) {
    const Stamp *w = &x->shadow.stamps.data[stamp];
    Form form = gr_shape_form(shape);
    uint32_t shift = w->site ? (uint32_t)form : 2, left = 0;
    bool whole = !w->site && form == FORM_WHOLE;
    if (w->access != PTX_ACCESS_WRITE || !gr_table_fits(x, stamp) ||
        !((form < FORM_SAME && (uint32_t)form == shift) || whole) || (w->site && w->size != 1u << shift))
        return lanes;
    Table *t = gr_table_for(x, line, w, shift);
    if (!t)
        return lanes;
    if (whole) {
        for (unsigned e = 0; e < LINE_CELLS; e++)
            if (!retire(x, t, e, stamp << 5, w->at.launch))
                return lanes;
        return 0;
    }
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        unsigned e = (unsigned)(gr_shape_base(shape) + (int)lane * gr_shape_stride(shape)) >> shift;
        if (!retire(x, t, e, stamp << 5 | lane, w->at.launch))
            left |= m & -m;
    }
    return left;
}

void gr_exact_forget_tables(Exact *x, const Line *line, unsigned from, unsigned to) {
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t k = line->tables[side], next; k; k = next) {
            Table *t = &x->shadow.tables.list.data[k - 1];
            next = t->next;
            for (unsigned e = from >> t->shift; e << t->shift < to; e++) {
                gr_history_set(&x->shadow, &t->first[e], 0);
                if (t->second)
                    gr_history_set(&x->shadow, &t->second[e], 0);
                gr_element_take(t->fresh, e);
                gr_element_take(t->told, e);
            }
        }
}

// ---- Races ---------------------------------------------------------------------------------------------------------

// The launch of the access knows all that the table holds.
static bool is_known(const Exact *x, Access *a, const Table *t) {
    return t->launch && !x->hosts.several && gr_exact_came_before(x, a, t->launch - 1);
}

// The launch of the access knows all tables behind this one: it found so, or it knows a launch that did.
static bool knows_rest(Exact *x, Access *a, const Table *t) {
    return t->rest && t->changes == *changed_of(&x->shadow.tables, t->line) &&
           x->order.launches.data[t->rest - 1]->begun == t->begun &&
           (t->rest - 1 == a->view.launch->index || gr_exact_came_before(x, a, t->rest - 1));
}

// Notes in the table that the launch of the access knows all tables from a certain one on. Not for the host's launch,
// which may know more than when it began.
static void keep_known(Exact *x, const Access *a, Table *t) {
    const Launch *mine = x->order.launches.data[a->view.launch->index];
    if (mine->host || mine->ended)
        return;
    t->rest = mine->index + 1;
    t->begun = mine->begun;
    t->changes = *changed_of(&x->shadow.tables, t->line);
}

bool gr_exact_knows_tables(Exact *x, Access *a, uint32_t first) {
    Table *tables = x->shadow.tables.list.data;
    for (uint32_t k = first; k; k = tables[k - 1].next) {
        if (!tables[k - 1].launch || !gr_exact_came_before(x, a, tables[k - 1].launch - 1))
            return false;
        x->looks++;
        if (knows_rest(x, a, &tables[k - 1])) {
            if (k == first)
                return true;
            break;
        }
    }
    if (first)
        keep_known(x, a, &tables[first - 1]);
    return true;
}

static inline bool comes_after(const Exact *x, Access *a, uint32_t stamp, uint32_t did, uint32_t lanes) {
    return (did == lanes && !(lanes & (lanes - 1)) && gr_exact_is_own(x, a, stamp)) ||
           gr_exact_all_know(x, a, lanes, stamp);
}

static __attribute__((noinline)) bool is_clear_of(const Exact *x, Access *a, History h, uint32_t lanes) {
    if (!(h >> 31))
        return comes_after(x, a, h >> 5, UINT32_C(1) << (h & 31), lanes);
    for (Entry e; gr_history_next(&x->shadow, &h, &e);)
        if (e.stamp != a->known && !comes_after(x, a, e.stamp, e.lanes, lanes))
            return false;
    return true;
}

// The lanes come after both accesses.
static inline bool is_clear_of_both(const Exact *x, Access *a, History first, History second,
                                    uint32_t lanes) {
    return (first >> 5 == a->known || !first || is_clear_of(x, a, first, lanes)) &&
           (!second || second >> 5 == a->known || is_clear_of(x, a, second, lanes));
}

static bool is_clear(const Exact *x, Access *a, const Table *t, uint32_t lanes, Shape shape, uint32_t size) {
    Form form = gr_shape_form(shape);
    int base = gr_shape_base(shape), step = gr_shape_stride(shape);
    int bytes = form == FORM_SAME ? (int)size : form == FORM_WHOLE ? LINE_BYTES : 1 << form;
    for (uint32_t m = lanes; m; m = step ? m & (m - 1) : 0) {
        uint32_t here = step ? m & -m : lanes;
        int from = base + __builtin_ctz(m) * step, to = from + bytes < LINE_BYTES ? from + bytes : LINE_BYTES;
        for (int e = from >> t->shift; e << t->shift < to; e++)
            if (!is_clear_of_both(x, a, t->first[e], gr_table_second(t, (unsigned)e), here))
                return false;
    }
    return true;
}

// The lanes come after what the tables from number `first` on hold of these bytes. *all_known: false if the launch does
// not know all of them.
static bool is_clear_from(Exact *x, Access *a, uint32_t first, uint32_t lanes, Shape shape, uint32_t size,
                          bool *all_known) {
    Table *known = NULL, *from = NULL; // known: and all behind it; from: it was known of that one
    for (uint32_t k = first; k;) {
        Table *t = &x->shadow.tables.list.data[k - 1];
        k = t->next;
        if (is_known(x, a, t)) {
            x->looks++;
            known = known ? known : t;
            if (!knows_rest(x, a, t))
                continue;
            from = t;
            break;
        }
        known = NULL;
        *all_known = false;
        if (!is_clear(x, a, t, lanes, shape, size))
            return false;
    }
    if (known != from)
        keep_known(x, a, known);
    return true;
}

bool gr_exact_clear_of_tables(Exact *x, Access *a, const Line *line, uint32_t lanes, Shape shape,
                              uint32_t size, bool reads) {
    bool all_known = true;
    if (line == a->tables_known)
        return true;
    for (unsigned side = 0; side < (reads ? 1 : 2); side++)
        if (!is_clear_from(x, a, line->tables[side], lanes, shape, size, &all_known))
            return false;
    a->tables_known = all_known ? line : a->tables_known;
    return true;
}

void gr_exact_check_tables(Exact *x, Access *a, const Cell *cell, const Line *line, uint32_t lane,
                           uint32_t bytes, uint64_t word, bool reads) {
    const Shadow *s = &x->shadow;
    for (unsigned side = 0; side < (reads ? 1 : 2); side++)
        for (uint32_t k = line->tables[side]; k; k = s->tables.list.data[k - 1].next) {
            const Table *t = &s->tables.list.data[k - 1];
            unsigned at = (unsigned)(word % LINE_BYTES), size = 1u << t->shift;
            for (unsigned e = at >> t->shift; !is_known(x, a, t) && e << t->shift < at + CELL_BYTES; e++) {
                uint32_t covers =
                    size >= CELL_BYTES ? ALL_BYTES : ((1u << size) - 1) << ((e << t->shift) - at);
                for (unsigned second = 0; second < 2; second++) {
                    History h = !second ? t->first[e] : gr_table_second(t, e);
                    for (Entry entry; gr_history_next(s, &h, &entry);) {
                        entry.bytes = covers;
                        gr_exact_check_entry(x, a, cell, &entry, ALL_BYTES, lane, bytes, word);
                    }
                }
            }
        }
}
