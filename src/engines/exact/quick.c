// SPDX-License-Identifier: Apache-2.0
// quick — the most common accesses, a warp at a time: loads and stores of lanes side by side or at one place, of
// scattered words, and relaxed atomic operations. access.c takes whatever is not plainly in order, and may be told
// again of what has already been noted here.
#include "engines/exact/exact_internal.h"

#include <string.h>

// The epoch of all active lanes; 0: they have several.
static uint32_t common_epoch(const Warp *w, uint32_t mask) {
    if (w->even)
        return w->even;
    uint32_t epoch = w->epoch[__builtin_ctz(mask)];
    for (uint32_t m = mask & (mask - 1); m; m &= m - 1)
        if (w->epoch[__builtin_ctz(m)] != epoch)
            return 0;
    return epoch;
}

// ---- Weak accesses -------------------------------------------------------------------------------------------------

// Tells an access in one line, which begins at `at`.
static inline bool touch_in_line(Exact *x, Access *a, uint32_t lanes, uint64_t at, Shape shape, uint32_t size,
                                 bool reads) {
    Line *l = gr_shadow_line(&x->shadow, a->owner, at);
    a->line_at = at;
    return l && (gr_line_has_cells(l) ? gr_exact_touch_cells(x, a, l, lanes, shape, size, reads)
                                      : gr_exact_touch_line(x, a, l, lanes, shape, reads));
}

static __attribute__((noinline)) bool touch_lines(Exact *x, Access *a, uint32_t lanes, uint64_t base,
                                                  uint64_t to, uint32_t size, bool reads) {
    unsigned shift = (unsigned)__builtin_ctz(size);
    uint64_t from = base + ((uint64_t)__builtin_ctz(lanes) << shift);
    for (uint64_t line = from & ~(uint64_t)(LINE_BYTES - 1); line < to; line += LINE_BYTES) {
        int64_t low = (int64_t)(line - base) >> shift, high = low + (LINE_BYTES >> shift);
        uint32_t mine = lanes;
        if (low > 0)
            mine &= UINT32_MAX << low;
        if (high < LANES)
            mine &= (UINT32_C(1) << high) - 1;
        if (!mine)
            continue;
        if (!touch_in_line(x, a, mine, line, gr_shape((Form)shift, (int)(int64_t)(base - line)), size, reads))
            return false;
    }
    return true;
}

// Tells an access of lanes side by side; `base` is where lane 0 of the warp lies or would lie.
static inline bool touch_steps(Exact *x, Access *a, uint32_t lanes, uint64_t base, uint32_t size,
                               bool reads) {
    unsigned shift = (unsigned)__builtin_ctz(size);
    uint64_t from = base + ((uint64_t)__builtin_ctz(lanes) << shift),
             to = base + ((uint64_t)(32 - __builtin_clz(lanes)) << shift);
    uint64_t line = from & ~(uint64_t)(LINE_BYTES - 1);
    gr_stamp_reaches(&x->shadow.stamps.data[a->stamp], from, to);
    return __builtin_expect(to - line <= LINE_BYTES, 1)
               ? touch_in_line(x, a, lanes, line, gr_shape((Form)shift, (int)(int64_t)(base - line)), size,
                               reads)
               : touch_lines(x, a, lanes, base, to, size, reads);
}

static bool touch_same(Exact *x, Access *a, uint32_t lanes, uint64_t at, bool reads) {
    Stamp *mine = &x->shadow.stamps.data[a->stamp];
    gr_stamp_reaches(mine, at, at + mine->size);
    Line *l = gr_shadow_line(&x->shadow, a->owner, at);
    Shape shape = gr_shape(FORM_SAME, (int)(at % LINE_BYTES));
    a->line_at = at & ~(uint64_t)(LINE_BYTES - 1);
    if (l && gr_line_has_cells(l))
        return reads && gr_exact_is_clean(x, a, l) && gr_exact_takes_reads(x, a) &&
               !gr_exact_note_reads(x, a, l, lanes, shape);
    return l && gr_exact_touch_line(x, a, l, lanes, shape, reads);
}

static bool touch_shape(Exact *x, Access *a, uint32_t lanes, VmShape shape, uint64_t base, uint32_t size,
                        bool reads) {
    return shape == VM_STEPS ? touch_steps(x, a, lanes, base, size, reads)
                             : touch_same(x, a, lanes, base, reads);
}

// Tells a read of one line of shared memory by both halves, each at one place or both of the same elements, in one run.
// False: not such a read, or not that simple.
static bool read_both_halves(Exact *x, Access *a, uint32_t lanes, const VmShape shape[2],
                             const uint64_t base[2], uint32_t size) {
    bool pair = shape[0] == VM_SAME;
    uint64_t line = base[0] & ~(uint64_t)(LINE_BYTES - 1), stride = pair ? base[1] - base[0] : size,
             end = pair ? base[1] + size : base[0] + 16 * size;
    if (!a->owner || shape[0] != shape[1] || (!pair && base[1] + 16 * size != base[0]) ||
        stride >= LINE_BYTES || end - line > LINE_BYTES)
        return false;
    Line *l = gr_shadow_line(&x->shadow, a->owner, line);
    if (!l || gr_line_has_cells(l))
        return false;
    gr_stamp_reaches(&x->shadow.stamps.data[a->stamp], base[0], end);
    a->line_at = line;
    return gr_exact_touch_line(
        x, a, l, lanes,
        gr_shape_strided(pair ? FORM_PAIR : FORM_TWICE, (unsigned)stride, (int)(base[0] - line)), true);
}

bool gr_exact_touch_shape(Exact *x, Access *a, uint32_t lanes, const VmShape shape[2], const uint64_t base[2],
                          uint32_t size, bool reads) {
    if (shape[0] == shape[1] && base[0] == base[1])
        return touch_shape(x, a, lanes, shape[0], base[0], size, reads);
    uint32_t half[2] = {lanes & 0xffff, lanes & 0xffff0000};
    if (reads && half[0] && half[1] && read_both_halves(x, a, lanes, shape, base, size))
        return true;
    for (unsigned h = 0; h < 2; h++)
        if (half[h] && !touch_shape(x, a, half[h], shape[h], base[h], size, reads))
            return false;
    return true;
}

// The distance at which the lanes' elements lie without overlap; *base: where lane 0 would be. 0: none that runs can
// tell.
static uint32_t stride_of(const VmGlance *g, uint32_t lanes, uint64_t *base) {
    uint32_t others = lanes & (lanes - 1);
    if (!others)
        return 0;
    uint32_t first = (uint32_t)__builtin_ctz(lanes), second = (uint32_t)__builtin_ctz(others);
    uint64_t at = gr_vm_glance_at(g, first), far = gr_vm_glance_at(g, second) - at,
             stride = far / (second - first);
    if (far > STRIDE_MAX * LANES || stride > STRIDE_MAX || stride < g->site->size)
        return 0;
    *base = at - first * stride;
    for (uint32_t m = lanes; m; m &= m - 1)
        if (gr_vm_glance_at(g, (unsigned)__builtin_ctz(m)) != *base + stride * (uint64_t)__builtin_ctz(m))
            return 0;
    return (uint32_t)stride;
}

static bool touch_strided(Exact *x, Access *a, uint32_t lanes, uint64_t base, uint32_t stride, uint32_t size,
                          bool reads) {
    uint32_t last = 31 - (uint32_t)__builtin_clz(lanes);
    gr_stamp_reaches(&x->shadow.stamps.data[a->stamp], base + (uint64_t)__builtin_ctz(lanes) * stride,
                     base + (uint64_t)last * stride + size);
    for (uint32_t left = lanes, mine; left; left &= ~mine) {
        uint32_t first = (uint32_t)__builtin_ctz(left);
        uint64_t at = base + (uint64_t)first * stride, line = at & ~(uint64_t)(LINE_BYTES - 1);
        uint32_t n = ((uint32_t)(line + LINE_BYTES - at) + stride - 1) / stride; // lanes from the first on
        mine = left & (n + first < LANES ? (UINT32_C(1) << (n + first)) - 1 : UINT32_MAX);
        Shape shape = gr_shape_strided((Form)__builtin_ctz(size), stride, (int)(int64_t)(base - line));
        if (!touch_in_line(x, a, mine, line, shape, size, reads))
            return false;
    }
    return true;
}

// Goes by lanes, as they do it: access.c may find the lanes before the first one that meets another noted already.
static bool touch_scattered(Exact *x, Access *a, const VmGlance *g, bool reads) {
    uint32_t left = g->mask;
    for (uint32_t m = g->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t at = a->address[lane] = gr_vm_glance_at(g, lane);
        gr_stamp_reaches(&x->shadow.stamps.data[a->stamp], at, at + g->site->size);
    }
    if (reads && gr_exact_takes_reads(x, a))
        left = gr_exact_gather(x, a, a->address, left);
    if (left && g->site->size < CELL_BYTES)
        return false;
    const uint8_t *order = x->turns[g->turn % 32];
    for (uint32_t n = gr_vm_commit_numbers(left, g->turn); n; n &= n - 1) {
        uint32_t lane = order[__builtin_ctz(n)];
        uint64_t at = a->address[lane];
        Line *l = gr_shadow_line(&x->shadow, a->owner, at);
        if (!l)
            return false;
        a->line_at = at & ~(uint64_t)(LINE_BYTES - 1);
        unsigned shift = (unsigned)__builtin_ctz(g->site->size);
        Shape shape = gr_shape((Form)shift, (int)(at % LINE_BYTES) - (int)(lane << shift));
        if (!gr_line_has_cells(l) && gr_exact_touch_line(x, a, l, UINT32_C(1) << lane, shape, reads))
            continue;
        if (!gr_line_cell(&x->shadow, l, at, a->owner != NULL) ||
            !gr_exact_touch_cells(x, a, l, UINT32_C(1) << lane, shape, g->site->size, reads))
            return false;
    }
    return true;
}

static bool touch_weak(Exact *x, Access *a, const VmGlance *g, bool reads) {
    if ((g->site->size & (g->site->size - 1)) || g->site->size > 16)
        return false;
    uint32_t half[2] = {g->mask & 0xffff, g->mask & 0xffff0000};
    bool one = g->shape[0] == g->shape[1] && g->base[0] == g->base[1];
    if (one && g->shape[0] == VM_STEPS)
        return touch_steps(x, a, g->mask, g->base[0], g->site->size, reads);
    for (unsigned h = 0; h < 2; h++) {
        uint32_t lanes = one ? g->mask : half[h];
        if (lanes && g->shape[h] == VM_SCATTERED && !a->owner) {
            uint64_t base;
            uint32_t stride = stride_of(g, g->mask, &base);
            if (stride)
                return touch_strided(x, a, g->mask, base, stride, g->site->size, reads);
        }
        if (lanes &&
            (g->shape[h] == VM_SCATTERED || (g->shape[h] == VM_SAME && !reads && (lanes & (lanes - 1)))))
            return (g->site->size >= CELL_BYTES || reads) && g->shape[h] == VM_SCATTERED &&
                   touch_scattered(x, a, g, reads);
    }
    if (!one && !reads && half[0] && half[1] &&
        g->base[0] - g->base[1] + 32 * g->site->size < 64 * g->site->size)
        return false; // they may overlap
    VmShape shape[2] = {(VmShape)g->shape[0], (VmShape)g->shape[1]};
    return gr_exact_touch_shape(x, a, g->mask, shape, g->base, g->site->size, reads);
}

// ---- Atomic operations ---------------------------------------------------------------------------------------------

// A read-modify-write replaces the last one of the same kind, whose value it saw (history.c, still_needed).
static inline bool takes_place(const Exact *x, const Stamp *mine, const Stamp *t) {
    return t->site == mine->site && t->at.launch == mine->at.launch && t->access == PTX_ACCESS_RMW &&
           ((t->scope >= SAME_DEVICE && !x->narrow) || t->at.id == mine->at.id);
}

static bool replace_node(Exact *x, Access *a, const Stamp *mine, Cell *c, uint32_t lane) {
    Shadow *s = &x->shadow;
    Node *n = &s->nodes.data[c->writes & INT32_MAX];
    if (n->refs != 1 || n->interned || n->bytes != ALL_BYTES ||
        !takes_place(x, mine, &s->stamps.data[n->stamp]))
        return false;
    a->view.lane = lane;
    // Earlier writes must be in order, and the access must not have to vouch for others (history.c, SEEN).
    const Stamp *old = &s->stamps.data[n->rest >> 5];
    if (n->rest >> 31 || (n->rest && (old->strong || !gr_exact_knows_stamp(x, a, n->rest >> 5, old))))
        return false;
    n->stamp = a->stamp;
    n->lanes = UINT32_C(1) << lane;
    return true;
}

// The lines that one instruction's lanes have met, by their addresses.
enum { MET_LINES = 8 };
typedef struct Met {
    uint64_t number; // of the line, and 1; 0: none
    Line *line;
    Cell *cells;
    bool known; // all that its tables hold is of launches that this one knows
} Met;

// The line with its cells, which the access will write to. NULL: out of memory.
static inline Met *meet(Exact *x, const Access *a, Met met[MET_LINES], uint64_t at) {
    uint64_t number = at / LINE_BYTES + 1;
    Met *m = &met[number % MET_LINES];
    if (m->number == number)
        return m;
    Line *line = gr_shadow_line(&x->shadow, a->owner, at);
    Cell *cells = line ? gr_line_cell(&x->shadow, line, 0, a->owner != NULL) : NULL;
    if (!cells)
        return NULL;
    *m = (Met){number, line, cells, false};
    gr_exact_is_written(x, a, line);
    return m;
}

static bool is_clear_of_tables(Exact *x, Access *a, Met *m, uint32_t lane, uint64_t word) {
    if (m->known)
        return true;
    Shape shape = gr_shape(FORM_STEP2, (int)(word % LINE_BYTES) - (int)(lane * CELL_BYTES));
    bool clear = gr_exact_clear_of_tables(x, a, m->line, UINT32_C(1) << lane, shape, CELL_BYTES, false);
    m->known = a->tables_known == m->line;
    return clear;
}

// Sets *op to what the lanes' operations order. False: nothing, as neither these lanes nor any thread has released
// anything.
static bool strong_op(Exact *x, const Access *a, const VmGlance *g, StrongOp *op) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    Map *vars = a->owner ? &a->owner->sync : &x->order.sync;
    *op = (StrongOp){.vars = vars,
                     .talks = a->owner ? &a->owner->talks : &x->order.talks,
                     .size = mine->elem,
                     .sem = g->site->sem,
                     .scope = (PtxScope)(mine->scope + 1),
                     .owner = a->owner ? a->owner->id : 0,
                     .rmw = mine->access == PTX_ACCESS_RMW,
                     .red = g->site->stmt && g->site->stmt->instr->op == PTX_OP_RED};
    return vars->live || (a->view.warp->synced & g->mask) ||
           gr_order_talks(&x->order, op->talks, a->view.block, a->view.warp, g->mask);
}

static void atom_reads(Exact *x, Block *b, Warp *w, uint32_t lane, StrongOp *op, uint64_t at) {
    op->at = at;
    gr_order_strong_read(&x->order, b, w, lane, op);
}

// The stamp is used for all that the lanes access.
static void reach_all(Stamp *mine, const VmGlance *g, uint64_t at[LANES]) {
    uint64_t first = gr_vm_glance_at(g, (unsigned)__builtin_ctz(g->mask)), differ = g->site->size - 1;
    if (g->mask == UINT32_MAX && !g->narrow) {
        const uint64_t *lanes = g->lanes;
        for (unsigned l = 0; l < LANES; l++) {
            at[l] = lanes[l] + g->offset;
            differ |= at[l] ^ first;
        }
    } else {
        for (uint32_t m = g->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            at[l] = gr_vm_glance_at(g, l);
            differ |= at[l] ^ first;
        }
    }
    uint64_t bits = UINT64_MAX >> __builtin_clzll(differ | 1);
    gr_stamp_reaches(mine, first & ~bits, (first | bits) + 1);
}

// `op`: what the operations order; NULL: nothing. Callers pass constants for op and size where they can.
static inline __attribute__((always_inline)) bool
touch_lanes(Exact *x, Access *a, const VmGlance *g, Block *b, Warp *w, StrongOp *op, uint32_t size) {
    Shadow *s = &x->shadow;
    Stamp *mine = &s->stamps.data[a->stamp];
    const uint8_t *order = x->turns[g->turn % 32];
    const History now = a->stamp << 5;
    Met met[MET_LINES];
    for (unsigned k = 0; k < MET_LINES; k++)
        met[k].number = 0;
    for (uint32_t n = gr_vm_commit_numbers(g->mask, g->turn); n; n &= n - 1) {
        uint32_t lane = order[__builtin_ctz(n)];
        uint64_t at = a->address[lane];
        Met *m = meet(x, a, met, at);
        if (!m)
            return false;
        if (op)
            atom_reads(x, b, w, lane, op, at);
        for (uint32_t i = 0; i < size; i += CELL_BYTES) {
            Cell *c = &m->cells[(at + i) / CELL_BYTES % LINE_CELLS];
            History h = c->writes;
            if (__builtin_expect(c->reads != 0, 0) && !gr_exact_all_strong(x, a, c->reads))
                return false;
            if (__builtin_expect(gr_line_has_tables(m->line, false), 0) &&
                !is_clear_of_tables(x, a, m, lane, at + i))
                return false;
            if (__builtin_expect(h >> 31, 0)) {
                if (!replace_node(x, a, mine, c, lane))
                    return false;
            } else if (!h || h >> 5 == now >> 5 || takes_place(x, mine, &s->stamps.data[h >> 5]) ||
                       gr_exact_retire_cell(x, a, m->line, c))
                c->writes = now | lane;
            else
                return false;
        }
        if (op)
            gr_order_strong_write(&x->order, b, w, lane, op);
    }
    return true;
}

static __attribute__((noinline)) bool touch_words(Exact *x, Access *a, const VmGlance *g, Block *b, Warp *w) {
    return touch_lanes(x, a, g, b, w, NULL, CELL_BYTES);
}

static bool touch_atoms(Exact *x, Access *a, const VmGlance *g, Block *b, Warp *w) {
    StrongOp op;
    bool orders = strong_op(x, a, g, &op);
    if (a->stamp >= INLINE_STAMPS)
        return false;
    reach_all(&x->shadow.stamps.data[a->stamp], g, a->address);
    return !orders && g->site->size == CELL_BYTES
               ? touch_words(x, a, g, b, w)
               : touch_lanes(x, a, g, b, w, orders ? &op : NULL, g->site->size);
}

// ---- Strong reads --------------------------------------------------------------------------------------------------

// Sets *at to where all lanes read. False: at several places.
static bool is_one_place(const VmGlance *g, uint64_t *at) {
    *at = gr_vm_glance_at(g, (unsigned)__builtin_ctz(g->mask));
    if (!(g->mask & (g->mask - 1)))
        return true;
    for (unsigned h = 0; h < 2; h++)
        if ((g->mask & UINT32_C(0xffff) << 16 * h) && (g->shape[h] != VM_SAME || g->base[h] != *at))
            return false;
    return true;
}

static Look *look_at(Warp *w, uint64_t at, uint32_t mask) {
    return &w->look[(at / CELL_BYTES + (unsigned)__builtin_ctz(mask)) % LOOKS];
}

// The lanes have read the place before, and no thread has written there since.
static bool sees_again(Exact *x, Block *owner, Warp *w, const VmGlance *g, const Kind *k, uint32_t epoch) {
    uint64_t at;
    if (!w->looked || !is_one_place(g, &at) || gr_exact_passes_some(x))
        return false;
    const Look *l = look_at(w, at, g->mask);
    if (l->at != at || (g->mask & ~l->lanes) || l->age != x->shadow.age)
        return false;
    Stamp *t = &x->shadow.stamps.data[l->stamp];
    const Line *line = gr_shadow_line(&x->shadow, owner, at);
    if (t->site != k->stamp.site || t->at.epoch != epoch || !line || !gr_line_has_cells(line) ||
        line->wide.version != l->version)
        return false;
    gr_stamp_use(t, x->moment);
    return true;
}

static void note_look(Exact *x, const Access *a, Warp *w, const VmGlance *g) {
    uint64_t at;
    if (!is_one_place(g, &at))
        return;
    const Line *line = gr_shadow_line(&x->shadow, a->owner, at);
    if (!line || !gr_line_has_cells(line))
        return;
    Look now = {at, line->wide.version, x->shadow.age, a->stamp, g->mask}, *l = look_at(w, at, g->mask);
    if (l->at == at && l->version == now.version && l->age == now.age && l->stamp == now.stamp)
        now.lanes |= l->lanes;
    *l = now;
    w->looked = true;
}

// The lanes read a word that only strong operations have accessed. False: look closer.
static bool look_at_word(Exact *x, Access *a, Line *line, uint32_t lanes, uint64_t word) {
    Cell *c = &line->wide.cells[word / CELL_BYTES % LINE_CELLS];
    if (c->writes && !gr_exact_all_strong(x, a, c->writes) && !gr_exact_retire_cell(x, a, line, c))
        return false;
    if (gr_line_has_tables(line, true) &&
        !gr_exact_clear_of_tables(x, a, line, lanes, gr_shape(FORM_SAME, (int)(word % LINE_BYTES)),
                                  CELL_BYTES, true))
        return false;
    History now = gr_exact_remember(x, a, c->reads, lanes, word, ALL_BYTES);
    gr_history_release(&x->shadow, c->reads);
    c->reads = now;
    return true;
}

static void look_there(Exact *x, Access *a, uint32_t lanes, uint64_t at, uint32_t size) {
    Line *line = size % CELL_BYTES == 0 ? gr_shadow_line(&x->shadow, a->owner, at) : NULL;
    bool quick = line && gr_line_cell(&x->shadow, line, at, a->owner != NULL);
    gr_stamp_reaches(&x->shadow.stamps.data[a->stamp], at, at + size);
    a->view.lane = (uint32_t)__builtin_ctz(lanes);
    a->line_at = at & ~(uint64_t)(LINE_BYTES - 1);
    for (uint32_t k = 0; quick && k < size; k += CELL_BYTES)
        quick = look_at_word(x, a, line, lanes, at + k);
    if (!quick)
        gr_exact_touch(x, a, lanes, size);
}

// Tells strong accesses, lanes at one place together.
static bool touch_strong(Exact *x, Access *a, const VmGlance *g, Block *b, Warp *w) {
    StrongOp op;
    bool orders = strong_op(x, a, g, &op);
    uint64_t reports = x->reports;
    for (uint32_t m = g->mask; m; m &= m - 1)
        a->address[__builtin_ctz(m)] = gr_vm_glance_at(g, (unsigned)__builtin_ctz(m));
    for (uint32_t left = g->mask, same; left; left &= ~same) {
        uint64_t at = a->address[__builtin_ctz(left)];
        same = 0;
        for (uint32_t m = left; m; m &= m - 1)
            same |= a->address[__builtin_ctz(m)] == at ? m & -m : 0;
        // An element of a vector is not behind what a later element acquires.
        uint32_t size = orders ? op.size : g->site->size;
        for (uint32_t i = 0; i < g->site->size; i += size) {
            for (uint32_t m = same; m; m &= m - 1) {
                unsigned lane = (unsigned)__builtin_ctz(m);
                a->address[lane] = at + i;
                if (orders)
                    atom_reads(x, b, w, lane, &op, at + i);
            }
            look_there(x, a, same, at + i, size);
        }
    }
    if (x->reports == reports)
        note_look(x, a, w, g);
    return true;
}

// ---- All -----------------------------------------------------------------------------------------------------------

static Kind *kind_of(Exact *x, VmSiteInfo *info) {
    if (info->memo[0] == x->serial)
        return &x->kinds.data[info->memo[1]];
    uint32_t site = gr_exact_site(x, info->module, info->site);
    while (x->kinds.len <= site)
        if (!gr_vec_push(&x->kinds, (Kind){.known = false})) {
            x->nomem = true;
            return NULL;
        }
    Kind *k = &x->kinds.data[site];
    if (!k->known)
        gr_exact_fill_kind(k, site, info->stmt, info->size, info->access, info->sem, info->scope,
                           info->access == PTX_ACCESS_WRITE);
    info->memo[0] = x->serial;
    info->memo[1] = site;
    return k;
}

bool gr_exact_defer_read(Exact *x, Block *b, const VmAccessEvent *e) {
    if (e->access != PTX_ACCESS_READ || e->space != PTX_SHARED || e->owner != b->linear)
        return false;
    Warp *w = &b->warps[e->where.warp];
    VmSiteInfo info = {.module = e->where.module,
                       .stmt = e->where.stmt,
                       .site = e->where.site,
                       .size = e->size,
                       .access = e->access,
                       .sem = e->sem,
                       .scope = e->scope};
    VmGlance g = {.launch = b->launch->number,
                  .block_linear = b->linear,
                  .site = &info,
                  .warp = e->where.warp,
                  .mask = e->where.mask,
                  .turn = e->turn,
                  .space = PTX_SHARED,
                  .shape = {VM_SCATTERED, VM_SCATTERED},
                  .lanes = e->address};
    Kind *k = kind_of(x, &info);
    uint32_t epoch = common_epoch(w, g.mask);
    return k && k->stamp.site && epoch && gr_exact_defer(x, b, w, &g, k, epoch);
}

// touch_strong or touch_atoms can tell the strong access. Elements of loaded vectors are told word by word.
static bool is_quick(const Exact *x, const Kind *k, const VmGlance *g, bool reads) {
    uint32_t size = g->site->size;
    return (k->relaxed || g->site->sem == PTX_ACQUIRE) && !x->open.len &&
           k->stamp.access != PTX_ACCESS_WRITE && k->stamp.elem &&
           (reads || (k->stamp.elem == size && (size == 4 || size == 8)));
}

// Tells the access now.
static __attribute__((noinline)) bool look(Exact *x, Block *b, const VmGlance *g, const Kind *k,
                                           uint32_t epoch) {
    Warp *w = &b->warps[g->warp];
    bool shared = g->space == PTX_SHARED;
    if (shared && (!b->tile || gr_exact_watched(b->tile, g) != WATCHES_ALL)) // nothing was deferred there
        gr_exact_catch_up(x, b);
    bool strong = k->stamp.strong, reads = k->stamp.access == PTX_ACCESS_READ;
    if (strong && !is_quick(x, k, g, reads))
        return false;
    if (strong && reads && sees_again(x, shared ? b : NULL, w, g, k, epoch))
        return true;
    VmGlance part;
    if (reads && !strong && !shared && k->pages.count) {
        uint32_t left = gr_exact_untold(x, b->launch, k, g);
        if (!left)
            return true;
        if (left != g->mask) {
            part = *g;
            part.mask = left;
            g = &part;
        }
    }
    Access a;
    a.view = (View){.launch = b->launch, .block = b, .warp = w};
    a.owner = shared ? b : NULL;
    a.event = NULL;
    a.glance = g;
    a.compared = a.late = a.met_strong = a.raced = a.checked = a.asked = false;
    a.changed = 0;
    memset(a.unchanged, 0, sizeof a.unchanged);
    a.known = a.plain = a.gone = a.own = a.before = 0;
    a.line_at = 0;
    a.tables_known = NULL;
    a.last.bytes = 0;
    Stamp s = k->stamp;
    s.at = (Point){b->id, epoch, b->launch->index, w->index};
    a.stamp = gr_exact_stamp(x, w, &s);
    if (!a.stamp)
        return false;
    return !strong ? touch_weak(x, &a, g, reads)
           : reads ? touch_strong(x, &a, g, b, w)
                   : touch_atoms(x, &a, g, b, w);
}

static __attribute__((noinline)) bool glance(Exact *x, Block *b, const VmGlance *g) {
    const Warp *w = &b->warps[g->warp];
    Kind *k = kind_of(x, g->site);
    uint32_t epoch = common_epoch(w, g->mask);
    if (!k || !k->stamp.site || !epoch)
        return false;
    return (g->space == PTX_SHARED && gr_exact_defer(x, b, w, g, k, epoch)) || look(x, b, g, k, epoch);
}

bool gr_exact_glance(Exact *x, Block *b, const VmGlance *g) {
    uint32_t epoch = b->warps[g->warp].even;
    const VmSiteInfo *info = g->site;
    if (g->space == PTX_SHARED || !epoch || info->memo[0] != x->serial)
        return glance(x, b, g);
    Kind *k = &x->kinds.data[info->memo[1]];
    return k->stamp.site && look(x, b, g, k, epoch);
}
