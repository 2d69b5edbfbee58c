// SPDX-License-Identifier: Apache-2.0
// reads — weak reads of global memory, remembered in tables (tables.h). What many of them need is found out once. Of a
// launch and a line: whether all writes to it are of launches that came before (Line.seen). Of a launch, an instruction
// and a page: where the tables of its lines are, and which elements need no further reader (ReadPage). A write to a
// line with such elements makes all that is known of pages void. That seldom happens: two blocks have read there
// already.
#include "engines/exact/tables_internal.h"

#include <stdlib.h>

enum { FIRST_PAGES = 1, PAGES_MAX = 1 << 14, WORD_BITS = 64 };

// ---- Lines that no reader can race with ----------------------------------------------------------------------------

// The newest entry of each cell tells most often: these are asked before long histories are gone through.
static bool cells_came_before(const Exact *x, Access *a, const Cell *cells) {
    const Stamp *stamps = x->shadow.stamps.data;
    Entry e;
    uint32_t last = 0; // stamp of the one before
    for (unsigned k = 0; k < LINE_CELLS; k++) {
        uint32_t newest = cells[k].writes ? gr_history_stamp(&x->shadow, cells[k].writes) : last;
        if (newest != last && !gr_exact_came_before(x, a, stamps[newest].at.launch))
            return false;
        last = newest;
    }
    for (unsigned k = 0; k < LINE_CELLS; k++)
        for (History h = cells[k].writes, from = h; gr_history_next(&x->shadow, &h, &e);
             last = e.stamp, from = h) {
            if (e.stamp != last && !gr_exact_came_before(x, a, stamps[e.stamp].at.launch))
                return false;
            bool steady;
            History oldest = gr_history_oldest_alike(&x->shadow, from, &steady);
            h = oldest == from ? h : oldest;
        }
    return true;
}

static bool all_came_before(Exact *x, Access *a, const Line *line) {
    const Shadow *s = &x->shadow;
    if (gr_line_has_cells(line) && !cells_came_before(x, a, line->wide.cells))
        return false;
    const Run *r = &line->side[0];
    while (!gr_line_has_cells(line) && r->stamp) {
        if (!gr_exact_came_before(x, a, s->stamps.data[r->stamp].at.launch))
            return false;
        if (!r->next)
            break;
        r = &s->runs.data[r->next - 1];
    }
    return gr_exact_knows_tables(x, a, line->tables[0]);
}

bool gr_exact_find_clean(Exact *x, Access *a, Line *line) {
    bool clean = all_came_before(x, a, line);
    uint32_t told = x->order.active.len > 1 ? line->seen & SEEN_TOLD : 0; // of a launch that may run still
    line->seen = (uint32_t)(a->view.launch->number << SEEN_SHIFT) | told | (clean ? SEEN_CLEAN : 0);
    return clean;
}

// ---- Pages ---------------------------------------------------------------------------------------------------------

static bool is_told_of(const Exact *x, const ReadPage *p, const Launch *l) {
    return p->launch == l->number && p->version == x->reads_version;
}

// Makes four times as many places for pages.
static bool grow(Exact *x, ReadPages *r) {
    uint32_t count = r->count ? r->count * 4 : FIRST_PAGES;
    ReadPage *page = calloc(count, sizeof *page);
    if (!page)
        return false; // it goes on with what there is
    for (uint32_t k = 0; k < r->count; k++)
        if (r->page[k].page)
            page[(r->page[k].page - 1) & (count - 1)] = r->page[k];
    x->read_bytes += (count - r->count) * sizeof *page;
    free(r->page);
    *r = (ReadPages){page, count};
    return true;
}

// The page of the instruction's reads at `at`. NULL: out of memory.
static ReadPage *page_of(Exact *x, const Launch *l, ReadPages *r, uint64_t at) {
    uint64_t page = at >> PAGE_SHIFT, age = x->shadow.tables.age;
    if (!r->count && !grow(x, r))
        return NULL;
    ReadPage *p = &r->page[page & (r->count - 1)];
    bool mine = p->page == page + 1 && p->age == age;
    if (mine && is_told_of(x, p, l))
        return p;
    if (p->page && p->page != page + 1 && p->age == age && r->count < PAGES_MAX && grow(x, r))
        return page_of(x, l, r, at);
    if (!mine)
        *p = (ReadPage){.page = page + 1, .age = age};
    p->launch = l->number;
    p->version = x->reads_version;
    memset(p->told, 0, sizeof p->told);
    return p;
}

// The pages of the instruction, if its kind of access has any.
static ReadPages *pages_of(Exact *x, const Access *a, const Stamp *mine) {
    if (a->view.op || mine->site >= x->kinds.len || x->hosts.several)
        return NULL;
    Kind *k = &x->kinds.data[mine->site];
    return k->known && k->stamp.mark == mine->mark && k->stamp.size == mine->size ? &k->pages : NULL;
}

// Page number `page`, if it has something to tell that launch. NULL: it has not.
static inline const ReadPage *told_page(const Exact *x, const Launch *l, const ReadPages *r, uint64_t page) {
    const ReadPage *p = &r->page[page & (r->count - 1)];
    return p->page == page + 1 && is_told_of(x, p, l) ? p : NULL;
}

static inline bool is_told(const ReadPage *p, uint64_t at) {
    unsigned word = (unsigned)(at / CELL_BYTES % PAGE_WORDS);
    return p && p->told[word / WORD_BITS] >> word % WORD_BITS & 1;
}

// The lanes, of scattered reads, whose elements need no further reader.
static uint32_t told_lanes(const Exact *x, const Launch *l, const ReadPages *r, const VmGlance *g,
                           uint32_t lanes) {
    uint32_t told = 0;
    uint64_t page = UINT64_MAX;
    const ReadPage *p = NULL;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint64_t at = gr_vm_glance_at(g, (unsigned)__builtin_ctz(m));
        if (at >> PAGE_SHIFT != page)
            p = told_page(x, l, r, page = at >> PAGE_SHIFT);
        told |= is_told(p, at) ? m & -m : 0;
    }
    return told;
}

// Elements of `size` bytes side by side from `at` on need no further reader.
static bool are_told(const Exact *x, const Launch *l, const ReadPages *r, uint64_t at, unsigned n,
                     uint32_t size) {
    for (uint64_t word = at / CELL_BYTES, end = (at + n * size) / CELL_BYTES, to; word < end; word = to) {
        uint64_t page = word / PAGE_WORDS;
        unsigned first = (unsigned)(word % WORD_BITS);
        to = (word / WORD_BITS + 1) * WORD_BITS;
        to = to < end ? to : end;
        uint64_t bits = (to - word == WORD_BITS ? UINT64_MAX : (UINT64_C(1) << (to - word)) - 1) << first;
        const ReadPage *p = told_page(x, l, r, page);
        if (!p || (bits & ~p->told[word % PAGE_WORDS / WORD_BITS]))
            return false;
    }
    return true;
}

uint32_t gr_exact_untold(const Exact *x, const Launch *l, const Kind *k, const VmGlance *g) {
    const ReadPages *r = &k->pages;
    uint32_t size = g->site->size, left = g->mask;
    if (!r->count || x->hosts.several || size < CELL_BYTES)
        return left;
    bool one = g->shape[0] == g->shape[1] && (g->shape[0] == VM_SCATTERED || g->base[0] == g->base[1]);
    for (unsigned h = 0; h < (one ? 1 : 2); h++) {
        uint32_t mine = one ? left : left & UINT32_C(0xffff) << 16 * h;
        if (!mine)
            continue;
        uint32_t first = (uint32_t)__builtin_ctz(mine), n = 32 - (uint32_t)__builtin_clz(mine) - first;
        if (g->shape[h] == VM_SCATTERED)
            left &= ~told_lanes(x, l, r, g, mine);
        else if (g->shape[h] == VM_SAME ? is_told(told_page(x, l, r, g->base[h] >> PAGE_SHIFT), g->base[h])
                                        : are_told(x, l, r, g->base[h] + (uint64_t)first * size, n, size))
            left &= ~mine;
    }
    return left;
}

// Notes that the element, in a line that this launch has seen, needs no further reader. Only the table knows of parts
// of words.
static void tell(ReadPage *p, Line *line, uint64_t at, uint32_t size) {
    for (unsigned word = (unsigned)(at / CELL_BYTES % PAGE_WORDS), k = 0; k < size / CELL_BYTES; k++)
        p->told[(word + k) / WORD_BITS] |= UINT64_C(1) << (word + k) % WORD_BITS;
    if (size >= CELL_BYTES)
        line->seen |= SEEN_TOLD;
}

// Each bit twice.
static uint32_t twice(uint32_t bits) {
    bits = (bits | bits << 8) & 0x00ff00ff;
    bits = (bits | bits << 4) & 0x0f0f0f0f;
    bits = (bits | bits << 2) & 0x33333333;
    bits = (bits | bits << 1) & 0x55555555;
    return bits | bits << 1;
}

// tell for all elements of the line that the table marks so, if elements are whole words.
static void tell_all(ReadPage *p, Line *line, uint64_t at, const Table *t) {
    uint32_t words = (uint32_t)t->told[0];
    for (uint32_t shift = t->shift; 1u << shift > CELL_BYTES; shift--)
        words = twice(words);
    unsigned first = (unsigned)(at / CELL_BYTES % PAGE_WORDS);
    p->told[first / WORD_BITS] |= (uint64_t)words << first % WORD_BITS;
    if (words)
        line->seen |= SEEN_TOLD;
}

// ---- Elements ------------------------------------------------------------------------------------------------------

// What was found out about the accesses under a stamp of the same launch, for all lanes of the read.
typedef struct Answer {
    uint32_t stamp;
    bool apart;   // they are by another block, and nothing orders those
    bool uniform; // all lanes know them, or none does: `known`. Else each is to be asked
    bool known;
} Answer;

// SECOND_MAX: so many accesses can be in the second place of an element.
enum { ANSWERS = 8, SECOND_MAX = 8 };

typedef struct Noting {
    Exact *x;
    Access *a;
    uint64_t block; // linear
    uint32_t lanes; // of what is noted
    bool apart;
    bool joins;             // the second place may hold several: lanes side by side are better told in runs
    Answer answer[ANSWERS]; // by the stamp's last bits; stamp 0: none
} Noting;

static Noting noting(Exact *x, Access *a, uint32_t lanes) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    return (Noting){.x = x,
                    .a = a,
                    .block = gr_order_info(&x->order, mine->at.id)->linear,
                    .lanes = lanes,
                    .apart = a->view.launch->apart};
}

static __attribute__((noinline)) const Answer *find_answer(Noting *n, Answer *q, uint32_t stamp) {
    Exact *x = n->x;
    const Stamp *t = &x->shadow.stamps.data[stamp];
    q->stamp = stamp;
    q->apart = n->apart && gr_order_info(&x->order, t->at.id)->linear != n->block;
    q->uniform = q->apart || (!n->a->view.op && !n->a->view.warp->own && !gr_exact_is_own(x, n->a, stamp));
    q->known = q->uniform && !q->apart && gr_exact_knows_stamp(x, n->a, stamp, t);
    return q;
}

static inline const Answer *ask(Noting *n, uint32_t stamp) {
    Answer *q = &n->answer[stamp % ANSWERS];
    return q->stamp == stamp ? q : find_answer(n, q, stamp);
}

// The read comes after what `lanes` did under the stamp, of the same launch.
static inline __attribute__((always_inline)) bool takes_place(Noting *n, uint32_t stamp, uint32_t lanes) {
    if (stamp == n->a->stamp)
        return !(lanes & ~n->lanes);
    const Answer *q = ask(n, stamp);
    if (q->uniform)
        return q->known;
    return (lanes == n->lanes && !(lanes & (lanes - 1)) && gr_exact_is_own(n->x, n->a, stamp)) ||
           gr_exact_all_know(n->x, n->a, n->lanes, stamp);
}

static __attribute__((noinline)) bool take_places(Noting *n, History h) {
    for (Entry e; gr_history_next(&n->x->shadow, &h, &e);)
        if (!takes_place(n, e.stamp, e.lanes))
            return false;
    return true;
}

static inline bool all_take_place(Noting *n, History h) {
    return h >> 31 ? take_places(n, h) : takes_place(n, h >> 5, UINT32_C(1) << (h & 31));
}

static bool note_second(Noting *n, Table *t, unsigned e, History h) {
    Shadow *s = &n->x->shadow;
    if (!t->second && !(t->second = gr_tables_elements(&s->tables, t->shift)))
        return false;
    if (!gr_element_in(t->two, e))
        t->second[e] = 0;
    t->nodes |= h >> 31;
    gr_history_set(s, &t->second[e], h);
    gr_element_put(t->two, e);
    return true;
}

// Keeps in the second place what the read does not come after, and adds the read. False: that would be too much.
static __attribute__((noinline)) bool join_second(Noting *n, Table *t, unsigned e) {
    Shadow *s = &n->x->shadow;
    Entry kept[SECOND_MAX], mine = {n->a->stamp, n->lanes, ALL_BYTES, 0}, o;
    unsigned len = 0;
    for (History g = gr_table_second(t, e); gr_history_next(s, &g, &o);) {
        if (o.stamp == mine.stamp && !(mine.lanes & ~o.lanes))
            return true;
        if (o.stamp == mine.stamp)
            mine.lanes |= o.lanes;
        else if (!takes_place(n, o.stamp, o.lanes)) {
            if (len + 1 == SECOND_MAX)
                return false;
            kept[len++] = o;
        }
    }
    History h = 0;
    for (kept[len++] = mine; len > 0; len--) {
        History longer = gr_history_push(s, h, kept[len - 1], true);
        gr_history_release(s, h);
        h = longer;
    }
    bool noted = note_second(n, t, e, h);
    gr_history_release(s, h);
    return noted;
}

// Lanes of the same warp that read the element without order are remembered together.
static __attribute__((noinline)) void join_first(Noting *n, Table *t, unsigned e, uint32_t lanes) {
    Shadow *s = &n->x->shadow;
    History h = gr_history_push(s, 0, (Entry){n->a->stamp, n->lanes | lanes, ALL_BYTES, 0}, true);
    t->nodes |= h >> 31;
    gr_history_set(s, &t->first[e], h);
    gr_history_release(s, h);
}

// Notes a read of an element that this launch has read before, and that still needs readers.
static bool note_again(Noting *n, Table *t, unsigned e, History h) {
    Shadow *s = &n->x->shadow;
    History *f = &t->first[e], g;
    uint32_t stamp = gr_history_stamp(s, *f);
    if (stamp == n->a->stamp && n->joins) {
        uint32_t lanes = gr_history_lanes(s, *f);
        if (n->lanes & ~lanes)
            join_first(n, t, e, lanes);
        return true;
    }
    if (n->apart && ask(n, stamp)->apart) {
        if (!note_second(n, t, e, h))
            return false;
        gr_element_put(t->told, e);
        return true;
    }
    // Otherwise both places hold accesses of this block, or something orders the blocks.
    if (takes_place(n, stamp, gr_history_lanes(s, *f))) {
        t->nodes |= h >> 31;
        gr_history_set(s, f, h);
        return true;
    }
    g = gr_table_second(t, e);
    if (g && n->joins)
        return g == h || join_second(n, t, e);
    return g == h || ((!g || all_take_place(n, g)) && note_second(n, t, e, h));
}

static inline bool note(Noting *n, Table *t, unsigned e, History h) {
    if (!gr_element_in(t->fresh, e)) {
        gr_table_set_first(&n->x->shadow, t, e, h);
        return true;
    }
    return gr_element_in(t->told, e) || t->first[e] == h || note_again(n, t, e, h);
}

// Notes reads side by side whose elements need no reader, or were read by earlier launches only. Yields the other
// lanes, to be looked at one by one.
static uint32_t note_all(Shadow *s, Table *t, uint32_t stamp, uint32_t lanes, int at) {
    uint32_t left = lanes & ~gr_lanes_of(t->told, at), fresh = left & gr_lanes_of(t->fresh, at);
    uint64_t bits[2];
    if (t->nodes) {
        for (uint32_t m = left & ~fresh; m; m &= m - 1)
            gr_table_set_first(s, t, (unsigned)(at + __builtin_ctz(m)),
                               stamp << 5 | (uint32_t)__builtin_ctz(m));
        return fresh;
    }
    gr_bits_of(left & ~fresh, at, bits);
    for (uint32_t m = left & ~fresh; m; m &= m - 1)
        t->first[at + __builtin_ctz(m)] = stamp << 5 | (uint32_t)__builtin_ctz(m);
    for (unsigned k = 0; k < 2; k++) {
        t->fresh[k] |= bits[k];
        t->told[k] &= ~bits[k];
        t->two[k] &= ~bits[k];
    }
    return fresh;
}

// The table of the line; NULL: there is none. *page: what is known of its page, or NULL.
static Table *table_of(Exact *x, Access *a, Line *line, const Stamp *mine, ReadPage **page) {
    Tables *tables = &x->shadow.tables;
    ReadPages *r = a->line_at ? pages_of(x, a, mine) : NULL;
    ReadPage *p = *page = r ? page_of(x, a->view.launch, r, a->line_at) : NULL;
    uint32_t *number = p ? &p->table[a->line_at / LINE_BYTES % PAGE_LINES] : NULL;
    if (number && *number)
        return gr_table_ready(x, &tables->list.data[*number - 1], mine);
    Table *t = gr_table_for(x, line, mine, (uint32_t)__builtin_ctz(mine->size));
    if (t && number)
        *number = (uint32_t)(t - tables->list.data) + 1;
    return t;
}

static bool note_same(Noting *n, Table *t, unsigned e) {
    Shadow *s = &n->x->shadow;
    if (gr_element_in(t->told, e))
        return true;
    History h = gr_history_push(s, 0, (Entry){n->a->stamp, n->lanes, ALL_BYTES, 0}, true);
    n->a->view.lane = (uint32_t)__builtin_ctz(n->lanes);
    bool noted = note(n, t, e, h);
    gr_history_release(s, h);
    return noted;
}

uint32_t gr_exact_note_reads(Exact *x, Access *a, Line *line, uint32_t lanes, Shape shape) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    ReadPage *p;
    Table *t = table_of(x, a, line, mine, &p);
    if (!t)
        return lanes;
    if (p && !gr_exact_is_clean(x, a, line)) // then a reader must always look
        p = NULL;
    Noting n = noting(x, a, lanes);
    uint32_t size = mine->size, left = 0;
    int base = gr_shape_base(shape), step = gr_shape_stride(shape);
    if (!step)
        left = note_same(&n, t, (unsigned)base >> t->shift) ? 0 : lanes;
    else if (step == (int)size)
        lanes = note_all(&x->shadow, t, a->stamp, lanes, base / (int)size);
    for (uint32_t m = step ? lanes : 0; m; m &= m - 1) {
        uint32_t lane = a->view.lane = (uint32_t)__builtin_ctz(m);
        n.lanes = m & -m;
        if (!note(&n, t, (unsigned)(base + (int)lane * step) >> t->shift, a->stamp << 5 | lane))
            left |= m & -m;
    }
    if (p && size >= CELL_BYTES)
        tell_all(p, line, a->line_at, t);
    return left;
}

// ---- Reads here and there ------------------------------------------------------------------------------------------

typedef struct Gather {
    Line *line[LANES];
    uint32_t table[LANES]; // its number and 1
} Gather;

// All lanes go each step to their elements together, as each step waits for memory. Yields the lanes that have lines.
static uint32_t go_to_lines(Exact *x, Gather *g, const uint64_t at[LANES], uint32_t lanes) {
    uint32_t have = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        g->line[l] = gr_shadow_global(&x->shadow, at[l]);
        if (!g->line[l])
            continue;
        __builtin_prefetch(g->line[l]);
        have |= m & -m;
    }
    return have;
}

static void go_to_tables(Exact *x, const Launch *launch, ReadPages *r, Gather *g, const uint64_t at[LANES],
                         uint32_t lanes) {
    const Table *tables = x->shadow.tables.list.data;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        const ReadPage *p = page_of(x, launch, r, at[l]);
        g->table[l] = p ? p->table[at[l] / LINE_BYTES % PAGE_LINES] : 0;
        if (g->table[l]) {
            __builtin_prefetch(&tables[g->table[l] - 1]);
            __builtin_prefetch((const char *)&tables[g->table[l]] - 1);
        }
    }
}

// Yields the lanes that have tables, in lines that no reader can race with.
static uint32_t go_to_elements(Exact *x, Access *a, const Stamp *mine, Gather *g, const uint64_t at[LANES],
                               uint32_t lanes) {
    uint32_t have = 0, shift = (uint32_t)__builtin_ctz(mine->size);
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        ReadPage *p;
        if (!gr_exact_is_clean(x, a, g->line[l]))
            continue;
        const Table *t = g->table[l] ? &x->shadow.tables.list.data[g->table[l] - 1] : NULL;
        if (!t || t->launch != mine->at.launch + 1) {
            a->line_at = at[l] & ~(uint64_t)(LINE_BYTES - 1);
            t = table_of(x, a, g->line[l], mine, &p);
            g->table[l] = t ? (uint32_t)(t - x->shadow.tables.list.data) + 1 : 0;
        }
        if (!t)
            continue;
        __builtin_prefetch(&t->first[at[l] % LINE_BYTES >> shift], 1);
        have |= m & -m;
    }
    return have;
}

uint32_t gr_exact_gather(Exact *x, Access *a, const uint64_t at[LANES], uint32_t lanes) {
    Shadow *s = &x->shadow;
    const Stamp *mine = &s->stamps.data[a->stamp];
    ReadPages *r = pages_of(x, a, mine);
    if (!r)
        return lanes;
    Gather g;
    uint32_t size = mine->size, shift = (uint32_t)__builtin_ctz(size), have = go_to_lines(x, &g, at, lanes);
    go_to_tables(x, a->view.launch, r, &g, at, have);
    have = go_to_elements(x, a, mine, &g, at, have);
    Noting n = noting(x, a, 0);
    n.joins = true;
    uint32_t left = lanes & ~have;
    for (uint32_t m = have; m; m &= m - 1) {
        uint32_t l = a->view.lane = (uint32_t)__builtin_ctz(m);
        Table *t = &s->tables.list.data[g.table[l] - 1];
        unsigned e = (unsigned)(at[l] % LINE_BYTES) >> shift;
        n.lanes = m & -m;
        if (!note(&n, t, e, a->stamp << 5 | l))
            left |= m & -m;
        else if (gr_element_in(t->told, e))
            tell(page_of(x, a->view.launch, r, at[l]), g.line[l], at[l], size);
    }
    return left;
}

void gr_exact_reads_free(Exact *x) {
    for (size_t k = 0; k < x->kinds.len; k++)
        free(x->kinds.data[k].pages.page);
}
