// SPDX-License-Identifier: Apache-2.0
// tables — see tables.h: their memory, and what they hold.
//
// Which accesses of one instruction to one element have to be remembered (history.c says why):
//
// - One that is known to a later one of the same instruction need not be: whoever races with the earlier races with the later.
//   Every access of a table's last launch knows all accesses of the launches before; an access of a launch that does not is not taken.
// - Where nothing orders the blocks of a launch among themselves, two reads by different blocks stand for all others.
//
// So an element has two places. A read that neither takes the place of one nor finds one free is not taken.
//
// Of writes, those of earlier launches are moved here, one for each element. Which of them stored last is not known any more, so a race with one is
// never called a same-value write.
#include "base/rng.h"
#include "exact/exact_internal.h"

#include <stdlib.h>
#include <string.h>

enum { SLAB_ELEMENTS = 1 << 16, FIRST_INDEX = 1 << 10, NUMBER_BITS = 32 };

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

Table *gr_tables_get(Tables *r, const void *line, uint64_t kind, uint32_t shift, uint32_t *first) {
    if (r->list.len * 2 >= r->index_cap && !grow_index(r))
        return NULL;
    uint64_t hash = hash_of(line, kind);
    size_t at = hash & (r->index_cap - 1);
    for (; r->index[at]; at = (at + 1) & (r->index_cap - 1)) {
        if ((r->index[at] ^ hash) >> NUMBER_BITS)
            continue;
        Table *t = &r->list.data[(uint32_t)r->index[at] - 1];
        if (t->line == line && t->kind == kind)
            return t;
    }
    Table t = {
        .line = line, .kind = kind, .next = *first, .shift = shift, .first = gr_tables_elements(r, shift)};
    if (!t.first || r->list.len >= UINT32_MAX - 1 || !gr_vec_push(&r->list, t))
        return NULL;
    *first = (uint32_t)r->list.len;
    r->index[at] = hash >> NUMBER_BITS << NUMBER_BITS | r->list.len;
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
    *r = (Tables){.index = NULL};
}

void gr_tables_clear(Tables *r) {
    if (r->list.len)
        memset(r->index, 0, r->index_cap * sizeof *r->index);
    r->list.len = 0;
    r->used_slabs = r->used = 0;
}

// ---- Elements ------------------------------------------------------------------------------------------------------

static bool has(const uint64_t bits[2], unsigned e) { return bits[e / 64] >> e % 64 & 1; }
static void put(uint64_t bits[2], unsigned e) { bits[e / 64] |= UINT64_C(1) << e % 64; }
static void take(uint64_t bits[2], unsigned e) { bits[e / 64] &= ~(UINT64_C(1) << e % 64); }

static uint32_t stamp_of(const Shadow *s, History h) {
    return h >> 31 ? s->nodes.data[h & INT32_MAX].stamp : h >> 5;
}

static uint32_t lanes_of(const Shadow *s, History h) {
    return h >> 31 ? s->nodes.data[h & INT32_MAX].lanes : UINT32_C(1) << (h & 31);
}

static void set(Shadow *s, History *to, History h) {
    History old = *to;
    *to = gr_history_retain(s, h);
    gr_history_release(s, old);
}

static History second_of(const Table *t, unsigned e) { return has(t->two, e) ? t->second[e] : 0; }

// The first access of the table's last launch to that element takes the place of all before. Memory is not read for that if there is nothing
// to count.
static void set_first(Shadow *s, Table *t, unsigned e, History h) {
    t->nodes |= h >> 31;
    if (t->nodes) {
        set(s, &t->first[e], h);
        if (has(t->two, e))
            set(s, &t->second[e], 0);
    } else {
        t->first[e] = h;
    }
    take(t->two, e);
    put(t->fresh, e);
    take(t->told, e);
}

static void set_second(Shadow *s, Table *t, unsigned e, History h) {
    if (!has(t->two, e))
        t->second[e] = 0;
    t->nodes |= h >> 31;
    set(s, &t->second[e], h);
    put(t->two, e);
}

static uint64_t kind_of(const Stamp *s, uint32_t shift) {
    return (uint64_t)s->site << 24 | (uint64_t)s->elem << 16 | s->mark << 8 | shift;
}

// The table of the accesses like `mine`, made ready for that access's launch. NULL: that launch and the table's last know nothing of each other,
// or there is no memory.
static Table *table_for(Exact *x, Line *line, const Stamp *mine, uint32_t shift) {
    bool reads = mine->access == PTX_ACCESS_READ;
    uint32_t launch = mine->at.launch;
    Table *t = gr_tables_get(&x->shadow.tables, line, kind_of(mine, shift), shift, &line->tables[reads]);
    if (!t || t->launch == launch + 1)
        return t;
    if (t->launch && !gr_exact_knows_launch(x, launch, t->launch - 1))
        return !reads && gr_exact_knows_launch(x, t->launch - 1, launch) ? t : NULL;
    t->launch = launch + 1;
    memset(t->fresh, 0, sizeof t->fresh);
    memset(t->told, 0, sizeof t->told);
    return t;
}

static bool fits(const Exact *x, uint32_t stamp) {
    const Stamp *s = &x->shadow.stamps.data[stamp];
    return !s->strong && s->proxy == VM_PROXY_GENERIC && stamp < INLINE_STAMPS &&
           (!s->site || (s->size && s->size <= TABLE_MAX_ELEM && !(s->size & (s->size - 1)))) &&
           !x->order.launches.data[s->at.launch]->host;
}

// ---- Reads ---------------------------------------------------------------------------------------------------------

typedef struct Noting {
    Exact *x;
    Access *a;
    uint64_t block; // linear
    uint32_t lanes; // of what is noted
    bool apart;
} Noting;

bool gr_exact_takes_reads(const Exact *x, const Access *a) {
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    return !a->owner && s->access == PTX_ACCESS_READ && s->site && fits(x, a->stamp);
}

static uint64_t block_of(const Noting *n, History h) {
    const Shadow *s = &n->x->shadow;
    return gr_order_info(&n->x->order, s->stamps.data[stamp_of(s, h)].at.id)->linear;
}

// What is noted comes after all of h, of the same launch.
static bool takes_place(Noting *n, History h) {
    Shadow *s = &n->x->shadow;
    uint32_t stamp = stamp_of(s, h), lanes = lanes_of(s, h);
    if (stamp == n->a->stamp)
        return !(lanes & ~n->lanes);
    return (lanes == n->lanes && !(lanes & (lanes - 1)) && gr_exact_is_own(n->x, n->a, stamp)) ||
           gr_exact_all_know(n->x, n->a, n->lanes, stamp);
}

static bool note(Noting *n, Table *t, unsigned e, History h) {
    Shadow *s = &n->x->shadow;
    if (!has(t->fresh, e)) {
        set_first(s, t, e, h);
        return true;
    }
    History *f = &t->first[e];
    if (has(t->told, e) || *f == h)
        return true;
    uint64_t block = n->apart ? block_of(n, *f) : n->block;
    if (takes_place(n, *f)) {
        t->nodes |= h >> 31;
        set(s, f, h);
        block = n->block;
        if (!has(t->two, e))
            return true;
        h = t->second[e]; // is it by another block?
    }
    if (!t->second) {
        t->second = gr_tables_elements(&s->tables, t->shift);
        if (!t->second)
            return false;
    }
    History g = second_of(t, e);
    bool apart = n->apart && block_of(n, h) != block;
    if (h != g) {
        if (g && !apart && !takes_place(n, g))
            return false;
        set_second(s, t, e, h);
    }
    if (apart)
        put(t->told, e);
    return true;
}

// The elements of the lanes, of which lane 0 has number `at`.
static void bits_of(uint32_t lanes, int at, uint64_t bits[2]) {
    uint64_t m = lanes;
    bits[0] = at < 0 ? m >> -at : at < 64 ? m << at : 0;
    bits[1] = at >= 64 ? m << (at - 64) : at > 32 ? m >> (64 - at) : 0;
}

// Lanes side by side, whose elements are all told, or all of earlier launches. False: they are to be looked at one by one.
static bool note_all(Table *t, uint32_t stamp, uint32_t lanes, int at) {
    uint64_t bits[2];
    bits_of(lanes, at, bits);
    if (!(bits[0] & ~t->told[0]) && !(bits[1] & ~t->told[1]))
        return true;
    if (t->nodes || (bits[0] & t->fresh[0]) || (bits[1] & t->fresh[1]))
        return false;
    for (uint32_t m = lanes; m; m &= m - 1)
        t->first[at + __builtin_ctz(m)] = stamp << 5 | (uint32_t)__builtin_ctz(m);
    for (unsigned k = 0; k < 2; k++) {
        t->fresh[k] |= bits[k];
        t->told[k] &= ~bits[k];
        t->two[k] &= ~bits[k];
    }
    return true;
}

uint32_t gr_exact_note_reads(Exact *x, Access *a, Line *line, uint32_t lanes, uint16_t shape) {
    Shadow *s = &x->shadow;
    const Stamp *mine = &s->stamps.data[a->stamp];
    Table *t;
    if (a->table_line == line) {
        t = &s->tables.list.data[a->table - 1];
    } else {
        t = table_for(x, line, mine, (uint32_t)__builtin_ctz(mine->size));
        if (!t)
            return lanes;
        a->table_line = line;
        a->table = (uint32_t)(t - s->tables.list.data) + 1;
    }
    Noting n = {.x = x, .a = a, .lanes = lanes, .apart = a->view.launch->apart};
    n.block = gr_order_info(&x->order, mine->at.id)->linear;
    int base = gr_shape_base(shape);
    if (gr_shape_form(shape) == FORM_SAME) {
        Entry e = {a->stamp, lanes, ALL_BYTES, false};
        History h = gr_history_push(s, 0, e, true);
        a->view.lane = (uint32_t)__builtin_ctz(lanes);
        bool noted = note(&n, t, (unsigned)base >> t->shift, h);
        gr_history_release(s, h);
        return noted ? 0 : lanes;
    }
    uint32_t left = 0;
    if (note_all(t, a->stamp, lanes, base / (int)mine->size))
        return 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t lane = a->view.lane = (uint32_t)__builtin_ctz(m);
        n.lanes = m & -m;
        if (!note(&n, t, (unsigned)(base + (int)(lane << t->shift)) >> t->shift, a->stamp << 5 | lane))
            left |= m & -m;
    }
    return left;
}

// Where lanes read here and there, each step of the way to an element waits for memory: so all lanes go the way together.
void gr_exact_read_ahead(const Exact *x, const Access *a, Line *const lines[LANES], const uint64_t at[LANES],
                         uint32_t lanes) {
    const Tables *r = &x->shadow.tables;
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    uint32_t shift = (uint32_t)__builtin_ctz(mine->size);
    uint64_t kind = kind_of(mine, shift), slot[LANES];
    const Table *table[LANES];
    uint32_t have = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
        __builtin_prefetch(lines[__builtin_ctz(m)]);
    for (uint32_t m = r->index_cap ? lanes : 0; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (!lines[l]->tables[1])
            continue;
        slot[l] = hash_of(lines[l], kind) & (r->index_cap - 1);
        __builtin_prefetch(&r->index[slot[l]]);
        have |= m & -m;
    }
    for (uint32_t m = have; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m), number = (uint32_t)r->index[slot[l]];
        table[l] = number ? &r->list.data[number - 1] : NULL; // mostly it is the first that is met
        __builtin_prefetch(table[l]);
        __builtin_prefetch((const char *)table[l] + sizeof *table[l] - 1);
    }
    for (uint32_t m = have; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        unsigned e = (unsigned)(at[l] % LINE_BYTES) >> shift;
        if (table[l] && table[l]->line == lines[l] && table[l]->kind == kind) {
            __builtin_prefetch(&table[l]->first[e], 1);
            if (has(table[l]->two, e))
                __builtin_prefetch(&table[l]->second[e], 1);
            continue;
        }
        have &= ~(m & -m);
    }
    for (uint32_t m = have; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        unsigned e = (unsigned)(at[l] % LINE_BYTES) >> shift;
        if (has(table[l]->fresh, e) && !has(table[l]->told, e))
            __builtin_prefetch(&x->shadow.stamps.data[stamp_of(&x->shadow, table[l]->first[e])].at);
    }
}

// ---- Writes of earlier launches ------------------------------------------------------------------------------------

// Where the write goes that takes the place of what is there, or of which what is there has taken the place. False: they know nothing of each
// other.
static bool retire(Exact *x, Table *t, unsigned e, History h, uint32_t launch) {
    Shadow *s = &x->shadow;
    uint32_t other = t->first[e] ? s->stamps.data[stamp_of(s, t->first[e])].at.launch : launch;
    if (t->first[e] == h || (other != launch && gr_exact_knows_launch(x, other, launch)))
        return true;
    if (t->first[e] && (other == launch || !gr_exact_knows_launch(x, launch, other)))
        return false;
    set(s, &t->first[e], h);
    return true;
}

uint32_t gr_exact_retire(Exact *x, Line *line, uint32_t stamp, uint32_t lanes, uint16_t shape) {
    const Stamp *w = &x->shadow.stamps.data[stamp];
    Form form = gr_shape_form(shape);
    uint32_t shift = w->site ? (uint32_t)form : 2, left = 0;
    bool whole = !w->site && form == FORM_WHOLE;
    if (w->access != PTX_ACCESS_WRITE || !fits(x, stamp) ||
        !((form < FORM_SAME && (uint32_t)form == shift) || whole) || (w->site && w->size != 1u << shift))
        return lanes;
    Table *t = table_for(x, line, w, shift);
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
        unsigned e = (unsigned)(gr_shape_base(shape) + (int)(lane << shift)) >> shift;
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
                set(&x->shadow, &t->first[e], 0);
                if (t->second)
                    set(&x->shadow, &t->second[e], 0);
                take(t->fresh, e);
                take(t->told, e);
            }
        }
}

// ---- Races ---------------------------------------------------------------------------------------------------------

// The launch of the access knows all that the table holds.
static bool is_known(const Exact *x, const Access *a, const Table *t) {
    uint32_t mine = a->view.launch->index;
    return t->launch && t->launch - 1 != mine && !x->hosts.several &&
           gr_exact_knows_launch(x, mine, t->launch - 1);
}

static bool is_clear_of(const Exact *x, Access *a, History h, uint32_t lanes) {
    if (!h)
        return true;
    uint32_t stamp = stamp_of(&x->shadow, h);
    return stamp == a->known ||
           (lanes_of(&x->shadow, h) == lanes && !(lanes & (lanes - 1)) && gr_exact_is_own(x, a, stamp)) ||
           gr_exact_all_know(x, a, lanes, stamp);
}

static bool is_clear(const Exact *x, Access *a, const Table *t, uint32_t lanes, uint16_t shape,
                     uint32_t size) {
    Form form = gr_shape_form(shape);
    int base = gr_shape_base(shape), step = form < FORM_SAME ? 1 << form : 0;
    int bytes = form == FORM_SAME ? (int)size : form == FORM_WHOLE ? LINE_BYTES : step;
    for (uint32_t m = lanes; m; m = step ? m & (m - 1) : 0) {
        uint32_t who = step ? m & -m : lanes;
        int from = base + __builtin_ctz(m) * step, to = from + bytes < LINE_BYTES ? from + bytes : LINE_BYTES;
        for (int e = from >> t->shift; e << t->shift < to; e++)
            if (!is_clear_of(x, a, t->first[e], who) || !is_clear_of(x, a, second_of(t, e), who))
                return false;
    }
    return true;
}

bool gr_exact_clear_of_tables(const Exact *x, Access *a, const Line *line, uint32_t lanes, uint16_t shape,
                              uint32_t size, bool reads) {
    bool all_known = true;
    if (line == a->tables_known)
        return true;
    for (unsigned side = 0; side < (reads ? 1 : 2); side++)
        for (uint32_t k = line->tables[side], next; k; k = next) {
            const Table *t = &x->shadow.tables.list.data[k - 1];
            next = t->next;
            if (is_known(x, a, t))
                continue;
            all_known = false;
            if (!is_clear(x, a, t, lanes, shape, size))
                return false;
        }
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
                    History h = !second ? t->first[e] : second_of(t, e);
                    Entry entry = {stamp_of(s, h), h ? lanes_of(s, h) : 0, covers, false};
                    if (h)
                        gr_exact_check_entry(x, a, cell, &entry, ALL_BYTES, lane, bytes, word);
                }
            }
        }
}
