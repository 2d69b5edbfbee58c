// SPDX-License-Identifier: Apache-2.0
// access — accesses of warps and of asynchronous operations, brought to the shadow lane by lane and word by word.
#include "engines/exact/exact_internal.h"

#include <string.h>

// Whether the lane comes after all that history h holds, as a glance tells. Overwritten strong writes need a closer
// look.
static inline bool is_after(const Exact *x, Access *a, History h, uint32_t lane, bool reads) {
    uint32_t stamp = h >> 5;
    if (!h || stamp == a->plain)
        return true;
    const Stamp *t = &x->shadow.stamps.data[stamp];
    if ((h & 31) == lane) {
        if (stamp == a->stamp || stamp == a->own)
            return true;
        if (!t->strong && gr_exact_is_own(x, a, stamp)) {
            a->own = stamp;
            return true;
        }
    }
    return (reads || !t->strong) && gr_exact_knows_stamp(x, a, stamp, t);
}

// A later access that races with h races with this access too, which comes after h (history.c).
static inline bool is_superseded(const Exact *x, Access *a, History h, uint32_t lane) {
    const Stamp *stamps = x->shadow.stamps.data;
    return gr_exact_same_kind(&stamps[h >> 5], &stamps[a->stamp]) && is_after(x, a, h, lane, true);
}

// The common case: a weak access of a whole word by one lane, where nothing has to be kept. False: look closer.
static inline bool touch_quickly(const Exact *x, Access *a, Cell *cell, uint32_t lane, bool reads) {
    History mine = a->stamp << 5 | lane, w = cell->writes, r = cell->reads;
    a->view.lane = lane;
    if ((w | r) >> 31 || a->stamp >= INLINE_STAMPS || !is_after(x, a, w, lane, reads))
        return false;
    History *h = reads ? &cell->reads : &cell->writes;
    if (!reads && !is_after(x, a, r, lane, false))
        return false;
    if (*h && *h != mine && *h >> 5 != a->gone && !is_superseded(x, a, *h, lane))
        return false;
    *h = mine;
    return true;
}

static void remember_reads(Exact *x, Access *a, Cell *cell, uint32_t lanes, uint64_t word, uint32_t bytes) {
    History now = gr_exact_remember(x, a, cell->reads, lanes, word, bytes);
    gr_history_release(&x->shadow, cell->reads);
    cell->reads = now;
}

// Sets *first and *n to the cells of the bytes that a lane accesses. False: it accesses parts of cells.
static inline bool cells_of(Cell *cells, uint32_t lane, Shape shape, uint32_t size, Cell **first,
                            unsigned *n) {
    int at = gr_shape_base(shape) + (int)lane * gr_shape_stride(shape);
    *first = &cells[at / CELL_BYTES];
    *n = size / CELL_BYTES;
    return size >= CELL_BYTES;
}

// Where a line has many tables, chains.h keeps one warp's reads of a word in order, however many instructions read it.
static bool reads_alone(const Exact *x, const Access *a, const Line *line, History reads) {
    if (!gr_exact_has_many_tables(x, line))
        return false;
    const Stamp *mine = &x->shadow.stamps.data[a->stamp],
                *t = reads ? &x->shadow.stamps.data[gr_history_stamp(&x->shadow, reads)] : mine;
    return !a->view.op && gr_history_is_alone(&x->shadow, reads) && t->at.id == mine->at.id &&
           t->at.warp == mine->at.warp;
}

static bool read_cells(Exact *x, Access *a, Line *line, uint32_t lanes, Shape shape, uint32_t size) {
    Cell *c;
    unsigned n;
    uint32_t left = 0, alone = 0;
    bool clean = gr_exact_is_clean(x, a, line);
    if (clean && gr_exact_takes_reads(x, a)) { // cells are for what is written here and there
        lanes = gr_exact_note_reads(x, a, line, lanes, shape);
        if (!lanes)
            return true;
    }
    if (!clean && line->tables[0] && !gr_exact_clear_of_tables(x, a, line, lanes, shape, size, true))
        return false;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t lane = a->view.lane = (uint32_t)__builtin_ctz(m);
        if (!cells_of(line->wide.cells, lane, shape, size, &c, &n))
            return false;
        bool races = false;
        for (unsigned k = 0; k < n && !clean; k++) {
            if (!(c[k].writes >> 31) && is_after(x, a, c[k].writes, lane, true))
                continue;
            races = true;
            if (!gr_exact_checks_again(x, a, c[k].writes, lane, ALL_BYTES,
                                       a->line_at + (uint64_t)(c + k - line->wide.cells) * CELL_BYTES))
                return false;
        }
        for (unsigned k = 0; k < n; k++)
            left |= !races && touch_quickly(x, a, &c[k], lane, true) ? 0 : m & -m;
        alone |= left & m & -m && reads_alone(x, a, line, c->reads) ? m & -m : 0;
    }
    if ((left & ~alone) && gr_exact_takes_reads(x, a))
        left = alone | gr_exact_note_reads(x, a, line, left & ~alone, shape);
    for (uint32_t m = left; m; m &= m - 1) {
        uint32_t lane = a->view.lane = (uint32_t)__builtin_ctz(m);
        (void)cells_of(line->wide.cells, lane, shape, size, &c, &n);
        for (unsigned k = 0; k < n; k++)
            remember_reads(x, a, &c[k], m & -m, 0, ALL_BYTES);
    }
    return true;
}

bool gr_exact_retire_cell(Exact *x, const Access *a, Line *line, Cell *cell) {
    if (a->owner || !cell->writes || cell->writes >> 31)
        return false;
    uint32_t stamp = cell->writes >> 5, lane = cell->writes & 31;
    const Stamp *w = &x->shadow.stamps.data[stamp];
    uint32_t mine = a->view.launch->index, size = w->site ? w->size : CELL_BYTES;
    if (w->at.launch == mine || size < CELL_BYTES || size > TABLE_MAX_ELEM || (size & (size - 1)) ||
        !gr_exact_knows_launch(x, mine, w->at.launch))
        return false;
    int at = (int)((uint32_t)(cell - line->wide.cells) * CELL_BYTES & ~(size - 1)),
        base = at - (int)(lane * size);
    if (gr_exact_retire(x, line, stamp, UINT32_C(1) << lane, gr_shape((Form)__builtin_ctz(size), base)))
        return false;
    cell->writes = 0;
    return true;
}

static bool write_cells(Exact *x, Access *a, Line *line, uint32_t lanes, Shape shape, uint32_t size) {
    if (gr_line_has_tables(line, false) && !gr_exact_clear_of_tables(x, a, line, lanes, shape, size, false))
        return false;
    for (uint32_t m = lanes; m; m &= m - 1) {
        Cell *c;
        unsigned n;
        if (!cells_of(line->wide.cells, (uint32_t)__builtin_ctz(m), shape, size, &c, &n))
            return false;
        for (unsigned k = 0; k < n; k++)
            if (!touch_quickly(x, a, &c[k], (uint32_t)__builtin_ctz(m), false) &&
                !(gr_exact_retire_cell(x, a, line, &c[k]) &&
                  touch_quickly(x, a, &c[k], (uint32_t)__builtin_ctz(m), false)))
                return false;
    }
    return true;
}

bool gr_exact_touch_cells(Exact *x, Access *a, Line *line, uint32_t lanes, Shape shape, uint32_t size,
                          bool reads) {
    if (gr_shape_form(shape) == FORM_SAME && (lanes & (lanes - 1)))
        return false;
    if (reads)
        return read_cells(x, a, line, lanes, shape, size);
    gr_exact_is_written(x, a, line);
    return write_cells(x, a, line, lanes, shape, size);
}

// What became of an earlier word of the line that the same lanes accessed. A word with the same history gives the same
// result. The elements of a vector mostly share one history, or two if only some of them change.
typedef struct Twin {
    bool asked, silent; // Access.asked, and it changed nothing
    Cell was, is;
} Twin;

typedef struct Twins {
    Twin of[2];
    unsigned n; // all there have been: the last two count
} Twins;

static bool touch_as(Exact *x, Access *a, const Twin *t, Cell *cell, uint32_t lanes, uint64_t word) {
    if (cell->writes != t->was.writes || cell->reads != t->was.reads ||
        (t->asked && t->silent != gr_exact_is_silent(a, (uint32_t)__builtin_ctz(lanes), word, ALL_BYTES)))
        return false;
    Shadow *s = &x->shadow;
    Cell old = *cell;
    *cell = (Cell){gr_history_retain(s, t->is.writes), gr_history_retain(s, t->is.reads)};
    gr_history_release(s, old.writes);
    gr_history_release(s, old.reads);
    return true;
}

// Notes the read of a word as part of an element. False: no table could take the read.
static bool note_word(Exact *x, Access *a, Line *line, uint32_t lanes, uint64_t word, uint32_t bytes) {
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    uint64_t at = (word + (unsigned)__builtin_ctz(bytes)) & ~(uint64_t)(s->size - 1);
    bool alone = !(lanes & (lanes - 1));
    int base = (int)(at % LINE_BYTES) - (alone ? (int)((uint32_t)__builtin_ctz(lanes) * s->size) : 0);
    return !gr_exact_note_reads(x, a, line, lanes,
                                gr_shape(alone ? (Form)__builtin_ctz(s->size) : FORM_SAME, base));
}

// Brings to the shadow that all of `lanes` access the same bytes.
static void touch_word(Exact *x, Access *a, uint32_t lanes, uint64_t word, uint32_t bytes, Twins *twins) {
    Line *line = gr_shadow_line(&x->shadow, a->owner, word);
    Cell *cell = line ? gr_line_cell(&x->shadow, line, word, a->owner != NULL) : NULL;
    if (!cell)
        return;
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    PtxAccess access = (PtxAccess)s->access;
    a->line_at = word & ~(uint64_t)(LINE_BYTES - 1);
    if (access != PTX_ACCESS_READ)
        gr_exact_is_written(x, a, line);
    bool reads = access == PTX_ACCESS_READ,
         takes = reads && gr_exact_takes_reads(x, a) && !reads_alone(x, a, line, cell->reads),
         tables = gr_line_has_tables(line, reads);
    if (bytes == ALL_BYTES && !(lanes & (lanes - 1)) && !s->strong && s->proxy == VM_PROXY_GENERIC &&
        !tables && touch_quickly(x, a, cell, (uint32_t)__builtin_ctz(lanes), access == PTX_ACCESS_READ))
        return;
    for (unsigned k = 0; k < 2 && k < twins->n && bytes == ALL_BYTES && !tables && !takes; k++)
        if (touch_as(x, a, &twins->of[k], cell, lanes, word))
            return;
    if (s->strong && gr_exact_retire_cell(
                         x, a, line, cell)) // strong ones are told at a glance when they are among themselves
        tables = true;
    if (tables && s->strong && s->proxy == VM_PROXY_GENERIC &&
        gr_exact_clear_of_tables(x, a, line, lanes, gr_shape(FORM_SAME, (int)(word % LINE_BYTES)), CELL_BYTES,
                                 reads))
        tables = false;
    Cell was = *cell;
    a->raced = a->asked = false;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t lane = a->view.lane = (uint32_t)__builtin_ctz(m);
        if (cell->writes)
            gr_exact_check(x, a, cell, cell->writes, lane, bytes, word);
        if (access != PTX_ACCESS_READ && cell->reads)
            gr_exact_check(x, a, cell, cell->reads, lane, bytes, word);
        if (tables)
            gr_exact_check_tables(x, a, cell, line, lane, bytes, word, reads);
    }
    if (takes && note_word(x, a, line, lanes, word, bytes))
        return;
    History *h = access == PTX_ACCESS_READ ? &cell->reads : &cell->writes;
    History now = gr_exact_remember(x, a, *h, lanes, word, bytes);
    gr_history_release(&x->shadow, *h);
    *h = now;
    // Reads that can race no more are not looked at again.
    if (access != PTX_ACCESS_READ && cell->reads && gr_exact_all_over(x, a, cell->reads)) {
        gr_history_release(&x->shadow, cell->reads);
        cell->reads = 0;
    }
    // Atomic operations put themselves in the place of others, in nodes of their own (quick.c).
    bool asked = a->asked && s->mark & STAMP_COMPARED,
         partly = asked && a->changed && a->changed != ALL_BYTES;
    if (bytes == ALL_BYTES && !a->raced && !partly && !(s->strong && access == PTX_ACCESS_RMW))
        twins->of[twins->n++ % 2] = (Twin){asked, !a->changed, was, *cell};
}

bool gr_exact_is_silent(Access *a, uint32_t lane, uint64_t word, uint32_t bytes) {
    const VmAccessEvent *e = a->event;
    if (a->last.bytes == bytes && a->last.word == word && a->last.lane == lane)
        return a->last.silent;
    uint32_t first = bytes & ~(bytes + (bytes & -bytes)); // of those side by side
    if (bytes & ~first)
        return gr_exact_is_silent(a, lane, word, first) && gr_exact_is_silent(a, lane, word, bytes & ~first);
    uint64_t at = word + (uint64_t)__builtin_ctz(bytes);
    a->last.lane = lane;
    a->last.bytes = bytes;
    a->last.word = word;
    return a->last.silent =
               !e ? a->unchanged[(word / CELL_BYTES - a->address[lane] / CELL_BYTES) % ACCESS_WORDS] >> lane &
                        1
                  : e->same && e->same(e, lane, (uint32_t)(at - e->address[lane]),
                                       (uint32_t)__builtin_popcount(bytes));
}

// Runs do not tell that a store changed nothing, which matters where others stored before.
static bool changes_nothing(const Exact *x, Access *a, const Line *line, uint32_t lane, uint64_t at,
                            uint64_t end) {
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    if (s->access != PTX_ACCESS_WRITE || !a->owner || !line->side[0].stamp || !(s->mark & STAMP_COMPARED))
        return false;
    for (uint64_t from = at, to; from < end; from = to) {
        uint64_t word = from & ~(uint64_t)(CELL_BYTES - 1);
        to = word + CELL_BYTES < end ? word + CELL_BYTES : end;
        if (gr_exact_is_silent(a, lane, word, ((1u << (to - word)) - 1) & ~((1u << (from - word)) - 1)))
            return true;
    }
    return false;
}

// All of `lanes` access [at, end) of a line. True: the line still takes the access in runs.
static bool touch_run(Exact *x, Access *a, uint32_t lanes, uint64_t at, uint64_t end) {
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    uint32_t size = (uint32_t)(end - at), lane = (uint32_t)__builtin_ctz(lanes);
    bool alone = !(lanes & (lanes - 1)), reads = s->access == PTX_ACCESS_READ;
    if (s->strong || s->proxy != VM_PROXY_GENERIC || (size & (size - 1)) ||
        (size > 16 && size != LINE_BYTES) || at % size || (!alone && (!reads || size != s->size)) ||
        (size == LINE_BYTES && lanes != 1))
        return false;
    Line *line = gr_shadow_line(&x->shadow, a->owner, at);
    if (!line || gr_line_has_cells(line) || changes_nothing(x, a, line, lane, at, end))
        return false;
    int base = (int)(at % LINE_BYTES);
    a->line_at = at - (unsigned)base;
    Form form = size == LINE_BYTES ? FORM_WHOLE : alone ? (Form)__builtin_ctz(size) : FORM_SAME;
    if (form < FORM_SAME)
        base -= (int)(lane << form);
    return gr_exact_touch_line(x, a, line, lanes, gr_shape(form, base), reads);
}

void gr_exact_touch(Exact *x, Access *a, uint32_t lanes, uint32_t size) {
    uint64_t at = a->address[__builtin_ctz(lanes)], end = at + size;
    gr_stamp_reaches(&x->shadow.stamps.data[a->stamp], at, end);
    for (uint64_t from = at, to; from < end; from = to) {
        to = (from / LINE_BYTES + 1) * LINE_BYTES;
        to = to < end ? to : end;
        if (touch_run(x, a, lanes, from, to))
            continue;
        Twins twins = {.n = 0};
        for (uint64_t word = from & ~(uint64_t)(CELL_BYTES - 1); word < to; word += CELL_BYTES) {
            uint32_t low = word < from ? (uint32_t)(from - word) : 0;
            uint32_t high = to - word < CELL_BYTES ? (uint32_t)(to - word) : CELL_BYTES;
            touch_word(x, a, lanes, word, ((1u << high) - 1) & ~((1u << low) - 1), &twins);
        }
    }
}

// ---- Accesses ------------------------------------------------------------------------------------------------------

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

// Lanes that may store to one place race with each other, in the order of their stores.
static void store_in_turn(Exact *x, Access *a, Stamp *s, Warp *w, const VmAccessEvent *e, Map *vars) {
    for (unsigned k = 0; k < LANES; k++) {
        uint32_t l = gr_vm_commit_lane(k, e->turn);
        if (!(e->where.mask >> l & 1))
            continue;
        s->at.epoch = w->epoch[l];
        a->stamp = gr_exact_stamp(x, w, s);
        if (!a->stamp)
            return;
        a->met_strong = false;
        gr_exact_touch(x, a, UINT32_C(1) << l, e->size);
        if (a->met_strong || gr_exact_passes_some(x))
            gr_order_overwritten(&x->order, vars, a->address[l], e->size);
    }
}

static void weak_access(Exact *x, Access *a, Stamp *s, Warp *w, const VmAccessEvent *e) {
    bool reads = e->access == PTX_ACCESS_READ,
         apart = !reads || are_ascending(a->address, e->where.mask, e->size);
    Map *vars = a->owner ? &a->owner->sync : &x->order.sync;
    if (!reads && !are_ascending(a->address, e->where.mask, e->size)) {
        store_in_turn(x, a, s, w, e, vars);
        return;
    }
    for (uint32_t left = e->where.mask; left;) {
        uint32_t epoch = w->epoch[__builtin_ctz(left)], lanes = 0;
        for (uint32_t m = left; m; m &= m - 1)
            lanes |= (uint32_t)(w->epoch[__builtin_ctz(m)] == epoch) << __builtin_ctz(m);
        left &= ~lanes;
        s->at.epoch = epoch;
        a->stamp = gr_exact_stamp(x, w, s);
        for (uint32_t m = a->stamp ? lanes : 0, together; m; m &= ~together) {
            uint32_t l = (uint32_t)__builtin_ctz(m);
            // Stores of several lanes to one place are races, found one by one.
            together = apart ? m & -m : m & same_address(a->address, a->address[l]);
            if (e->size == CELL_BYTES && together == (m & -m)) {
                Line *line = gr_shadow_line(&x->shadow, a->owner, a->address[l]);
                gr_stamp_reaches(&x->shadow.stamps.data[a->stamp], a->address[l], a->address[l] + CELL_BYTES);
                if (line && !reads)
                    gr_exact_is_written(x, a, line);
                if (line && gr_line_has_cells(line) && !gr_line_has_tables(line, reads) &&
                    (reads || !gr_exact_passes_some(x)) &&
                    touch_quickly(x, a, &line->wide.cells[a->address[l] / CELL_BYTES % LINE_CELLS], l, reads))
                    continue;
            }
            a->met_strong = false;
            gr_exact_touch(x, a, together, e->size);
            if ((a->met_strong || gr_exact_passes_some(x)) && !reads)
                gr_order_overwritten(&x->order, vars, a->address[l], e->size);
        }
    }
}

// ---- What the host has open -----------------------------------------------------------------------------------------

bool gr_exact_is_open(const Exact *x, uint64_t at) {
    for (size_t k = 0; k < x->open.len; k++)
        if (at - x->open.data[k].at < x->open.data[k].size)
            return true;
    return false;
}

// If there are more spans than releases to read, the host looks at all of them.
void gr_exact_unread(Exact *x, uint64_t at, uint64_t size) {
    if (x->all_unread)
        return;
    x->all_unread =
        x->unread.len > OPEN_SPANS + x->order.sync.live || !gr_vec_push(&x->unread, ((Span){at, size}));
    if (x->all_unread)
        x->unread.len = 0;
}

// The device released at `at` for the whole system: the host may have read that.
static void note_news(Exact *x, uint64_t at) {
    if (gr_exact_is_open(x, at))
        gr_exact_unread(x, at, 1);
}

// `s` NULL: the access is neither side of a race, and only what it orders matters.
static void strong_access(Exact *x, Access *a, const Kind *kind, Stamp *s, Warp *w, Block *b,
                          const VmAccessEvent *e) {
    uint32_t elem = kind->stamp.elem;
    StrongOp op = {.vars = a->owner ? &a->owner->sync : &x->order.sync,
                   .talks = a->owner ? &a->owner->talks : &x->order.talks,
                   .size = elem,
                   .sem = e->sem,
                   .scope = (PtxScope)(kind->stamp.scope + 1),
                   .owner = a->owner ? a->owner->id : 0,
                   .rmw = e->access == PTX_ACCESS_RMW,
                   .red = e->where.stmt && e->where.stmt->instr->op == PTX_OP_RED};
    for (unsigned k = 0; k < LANES; k++) {
        uint32_t l = gr_vm_commit_lane(k, e->turn);
        if (!(e->where.mask >> l & 1))
            continue;
        // Elements of a vector are accesses of their own: none is behind what a later one acquires.
        for (uint32_t i = 0; i < e->size; i += elem) {
            op.at = a->address[l] = e->address[l] + i;
            if (e->access != PTX_ACCESS_WRITE) {
                gr_order_strong_read(&x->order, b, w, l, &op);
                if (x->open.len)
                    gr_exact_host_unseen(x, b, w, l, &op);
            }
            if (s) {
                s->at.epoch = w->epoch[l];
                a->stamp = gr_exact_stamp(x, w, s);
                if (!a->stamp)
                    return;
                gr_exact_touch(x, a, UINT32_C(1) << l, elem);
            }
            if (e->access != PTX_ACCESS_READ) {
                gr_order_strong_write(&x->order, b, w, l, &op);
                if (x->open.len && op.scope == PTX_SCOPE_SYS)
                    note_news(x, op.at);
            }
        }
    }
}

static uint32_t elem_size(const PtxStmt *stmt, uint32_t size) {
    uint32_t vec = stmt && stmt->kind == PTX_INSTR && stmt->instr->vec ? stmt->instr->vec : 1;
    return size / vec ? size / vec : 1;
}

void gr_exact_fill_kind(Kind *k, uint32_t site, const PtxStmt *stmt, uint32_t size, PtxAccess access,
                        PtxSem sem, PtxScope scope, bool compared) {
    bool strong = is_strong(sem);
    *k = (Kind){.stamp = {.site = site,
                          .size = size,
                          .access = (unsigned)access & 3,
                          .strong = strong,
                          .scope = strong ? (unsigned)reach(sem, scope) & 7 : 0,
                          .elem = strong ? (uint8_t)elem_size(stmt, size) : 0,
                          .proxy = VM_PROXY_GENERIC,
                          .mark = (uint8_t)((sem == PTX_VOLATILE ? STAMP_VOLATILE : 0) |
                                            (compared ? STAMP_COMPARED : 0))},
                .known = true,
                .relaxed = sem == PTX_RELAXED || sem == PTX_VOLATILE};
}

uint32_t gr_exact_stamp(Exact *x, Warp *w, const Stamp *want) {
    Shadow *s = &x->shadow;
    uint32_t slot = want->site % WARP_STAMPS;
    if (w->recent_of != s->age) {
        memset(w->recent, 0, sizeof w->recent);
        w->recent_of = s->age;
    }
    uint32_t stamp = w->recent[slot];
    if (stamp) {
        Stamp *t = &s->stamps.data[stamp];
        if (t->at.epoch == want->at.epoch && gr_exact_same_kind(t, want) && t->size == want->size) {
            gr_stamp_use(t, x->moment);
            return stamp;
        }
    }
    return w->recent[slot] = gr_shadow_new_stamp(s, want, x->moment);
}

static void access_as(Exact *x, Block *b, const VmAccessEvent *e, uint8_t mark) {
    Warp *w = &b->warps[e->where.warp];
    Access a = {.view = {.launch = b->launch, .block = b, .warp = w}, .event = e};
    if (e->space == PTX_SHARED) {
        a.owner = gr_exact_block_at(b->launch, e->owner);
        if (!a.owner || (!mark && gr_exact_defer_read(x, b, e)))
            return;
        gr_exact_catch_up_with(x, a.owner, e->address, e->where.mask, e->size);
        a.owner->visited |= a.owner != b;
    }
    memcpy(a.address, e->address, sizeof a.address);
    Kind k;
    gr_exact_fill_kind(&k, gr_exact_site(x, e->where.module, e->where.site), e->where.stmt, e->size,
                       e->access, e->sem, e->scope, e->same != NULL);
    k.stamp.mark |= mark;
    k.stamp.at = (Point){.id = b->id, .launch = b->launch->index, .warp = w->index};
    if (k.stamp.strong)
        strong_access(x, &a, &k, &k.stamp, w, b, e);
    else
        weak_access(x, &a, &k.stamp, w, e);
}

void gr_exact_access(Exact *x, Block *b, const VmAccessEvent *e) {
    if (!(e->discards & e->where.mask)) {
        access_as(x, b, e, 0);
        return;
    }
    VmAccessEvent part = *e;
    part.where.mask = e->where.mask & ~e->discards;
    if (part.where.mask)
        access_as(x, b, &part, 0);
    part.where.mask = e->where.mask & e->discards;
    if (x->options.speculated)
        access_as(x, b, &part, STAMP_DISCARDED);
}

void gr_exact_pass_by(Exact *x, Block *b, const VmAccessEvent *e) {
    Access a = {.view = {.launch = b->launch, .block = b, .warp = &b->warps[e->where.warp]}, .event = e};
    a.owner = e->space == PTX_SHARED ? gr_exact_block_at(b->launch, e->owner) : NULL;
    if (e->space == PTX_SHARED && !a.owner)
        return;
    memcpy(a.address, e->address, sizeof a.address);
    Map *vars = a.owner ? &a.owner->sync : &x->order.sync;
    for (uint32_t m = vars->live && e->access != PTX_ACCESS_READ ? e->where.mask : 0; m; m &= m - 1)
        gr_order_overwritten(&x->order, vars, a.address[__builtin_ctz(m)], e->size);
}

// Brings halves of a warp whose lanes lie side by side to the shadow as a whole. Yields the lanes that are left.
static uint32_t touch_halves(Exact *x, Access *a, uint32_t lanes, uint32_t size) {
    uint32_t left = 0;
    bool reads = x->shadow.stamps.data[a->stamp].access == PTX_ACCESS_READ;
    for (uint32_t half = 0xffff; half; half <<= 16) {
        uint32_t mine = lanes & half, first = mine ? (uint32_t)__builtin_ctz(mine) : 0;
        bool steps = mine && size <= TABLE_MAX_ELEM && !(size & (size - 1)) && size;
        for (uint32_t m = mine; m && steps; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m);
            steps = a->address[l] == a->address[first] + (uint64_t)(l - first) * size &&
                    a->address[l] % size == 0;
        }
        const VmShape shape[2] = {VM_STEPS, VM_STEPS};
        uint64_t base = a->address[first] - (uint64_t)first * size, bases[2] = {base, base};
        if (!steps || !gr_exact_touch_shape(x, a, mine, shape, bases, size, reads))
            left |= mine;
    }
    return left;
}

void gr_exact_async_access(Exact *x, Block *b, const VmAsyncEvent *e) {
    const Op *op = gr_order_op(b, e->op);
    if (!op)
        return;
    Access a = {.view = {.launch = b->launch, .block = b, .warp = &b->warps[e->where.warp], .op = op}};
    if (e->space == PTX_SHARED) {
        a.owner = gr_exact_block_at(b->launch, e->block);
        if (!a.owner)
            return;
        gr_exact_catch_up_with(x, a.owner, e->address, e->where.mask, e->size);
        a.owner->visited |= a.owner != b;
        // No thread need have waited for the operations that an mbarrier is told of.
        if (a.owner->tile)
            a.owner->tile->async |= op->completes != VM_COMPLETES_GROUP && op->completes != VM_COMPLETES_BULK;
    }
    memcpy(a.address, e->address, sizeof a.address);
    uint32_t epoch = op->id == b->copies ? (uint32_t)op->number : e->kind == VM_ASYNC_READ ? 1 : 2;
    Stamp s = {.at = {op->id, epoch, b->launch->index, op->warp},
               .site = gr_exact_site(x, e->where.module, e->where.site),
               .size = e->size,
               .access = (unsigned)e->access & 3,
               .strong = e->access == PTX_ACCESS_RMW, // reductions are relaxed, of the device's scope
               .scope = SAME_DEVICE,
               .elem = 4,
               .proxy = (unsigned)e->proxy & 3,
               .mark = e->compared ? STAMP_COMPARED : 0};
    for (unsigned k = 0; k < ACCESS_WORDS; k++)
        a.unchanged[k] = e->unchanged;
    unsigned bits = e->access == PTX_ACCESS_RMW ? gr_ptx_type_bits(e->where.stmt->instr->type[0]) : 0;
    if (bits)
        s.elem = (uint8_t)(bits / 8);
    bool overwrites =
        e->access == PTX_ACCESS_WRITE || (e->access == PTX_ACCESS_RMW && e->proxy == VM_PROXY_ASYNC);
    Map *vars = a.owner ? &a.owner->sync : &x->order.sync;
    a.stamp = gr_shadow_stamp(&x->shadow, &s, x->moment);
    uint32_t left = a.stamp ? e->where.mask : 0;
    if (left && !s.strong && s.proxy == VM_PROXY_GENERIC && !gr_exact_passes_some(x))
        left = touch_halves(x, &a, left, e->size);
    for (unsigned k = 0; k < LANES && left; k++) {
        uint32_t l = gr_vm_commit_lane(k, e->turn);
        if (!(left >> l & 1))
            continue;
        a.met_strong = false;
        gr_exact_touch(x, &a, UINT32_C(1) << l, e->size);
        if ((a.met_strong || gr_exact_passes_some(x)) && overwrites)
            gr_order_overwritten(&x->order, vars, e->address[l], e->size);
    }
}
