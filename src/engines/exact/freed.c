// SPDX-License-Identifier: Apache-2.0
// freed — freeing memory is an access to all its bytes: a race with every other access that nothing orders before or
// after it.
//
// What was remembered of the memory is judged when it is freed, and forgotten: memory that is handed out again has no
// past. A later access to it faults, and is judged by the list of what was freed.
#include "engines/exact/exact_internal.h"

#include <stdlib.h>
#include <string.h>

enum { FREED_MAX = 4096 };

// ---- Sites ---------------------------------------------------------------------------------------------------------

const FreeSite *gr_exact_free_site(const Exact *x, uint32_t site) {
    for (size_t k = 0; k < x->free_sites.len; k++)
        if (x->free_sites.data[k].site == site)
            return &x->free_sites.data[k];
    return NULL;
}

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

static bool is_here(const FreeSite *f, const VmFreeEvent *e) {
    return f->stmt == e->where.stmt && f->module == e->where.module && f->line == e->line &&
           !strcmp(f->file ? f->file : "", e->file ? e->file : "");
}

static uint32_t site_of(Exact *x, const VmFreeEvent *e) {
    for (size_t k = 0; k < x->free_sites.len; k++)
        if (is_here(&x->free_sites.data[k], e))
            return x->free_sites.data[k].site;
    if (!x->n_sites) // 0 stands for copies
        x->n_sites = 1;
    FreeSite f = {x->n_sites,        e->where.stmt, e->where.module, copy(e->file),
                  copy(e->function), e->line,       e->ptx_line};
    if (!gr_vec_push(&x->free_sites, f)) {
        free(f.file);
        free(f.function);
        x->nomem = true;
        return 0;
    }
    return x->n_sites++;
}

// ---- What was freed ------------------------------------------------------------------------------------------------

static void note(Exact *x, FreedRange r) {
    if (x->freed.len == FREED_MAX)
        x->freed.data[x->next_freed++ % FREED_MAX] = r;
    else if (!gr_vec_push(&x->freed, r))
        x->nomem = true;
}

// The last freed range that overlaps [at, at + size): memory may have been handed out again in between.
static const FreedRange *find(const Exact *x, uint64_t at, uint64_t size) {
    for (size_t k = x->freed.len; k-- > 0;) {
        const FreedRange *r = &x->freed.data[(k + x->next_freed) % x->freed.len];
        if (at < r->at + r->size && r->at < at + size)
            return r;
    }
    return NULL;
}

bool gr_exact_freed_base(const Exact *x, uint64_t address, uint64_t *out) {
    const FreedRange *r = find(x, address, 1);
    *out = r ? r->at : address;
    return r != NULL;
}

void gr_exact_freed_forget(Exact *x) { x->freed.len = x->next_freed = 0; }

void gr_exact_freed_free(Exact *x) {
    for (size_t k = 0; k < x->free_sites.len; k++) {
        free(x->free_sites.data[k].file);
        free(x->free_sites.data[k].function);
    }
    gr_vec_free(&x->free_sites);
    gr_vec_free(&x->freed);
}

// ---- Freeing -------------------------------------------------------------------------------------------------------

// Everything that is remembered of the line, which has no cells, happened before the access.
static bool comes_after(Exact *x, Access *a, const Line *l) {
    for (unsigned k = 0; k < 2; k++) {
        Run r = l->side[k];
        while (r.stamp) {
            if (!gr_exact_knows_stamp(x, a, r.stamp, &x->shadow.stamps.data[r.stamp]))
                return false;
            if (!r.next)
                break;
            r = x->shadow.runs.data[r.next - 1];
        }
    }
    return gr_exact_clear_of_tables(x, a, l, UINT32_C(1) << a->view.lane, gr_shape(FORM_WHOLE, 0), LINE_BYTES,
                                    false);
}

// What tables hold of the line stays linked to it.
static void forget_line(Exact *x, Line *l) {
    uint32_t tables[2] = {l->tables[0], l->tables[1]};
    gr_line_reset(&x->shadow, l, false);
    l->tables[0] = tables[0];
    l->tables[1] = tables[1];
}

static void forget_cell(Exact *x, Cell *c) {
    gr_history_release(&x->shadow, c->writes);
    gr_history_release(&x->shadow, c->reads);
    *c = (Cell){0, 0};
}

// Judges what is remembered of [from, to) of the line at `at`; `forget` drops it.
static void meet_line(Exact *x, Access *a, Line *l, uint64_t at, uint64_t from, uint64_t to, bool forget) {
    bool whole = from <= at && to >= at + LINE_BYTES, tables = gr_line_has_tables(l, false);
    uint64_t first = from > at ? from : at, end = to < at + LINE_BYTES ? to : at + LINE_BYTES;
    bool clear = whole && !gr_line_has_cells(l) && comes_after(x, a, l);
    for (uint64_t word = at; !clear && word < at + LINE_BYTES; word += CELL_BYTES) {
        Cell *c = word < to && word + CELL_BYTES > from ? gr_line_cell(&x->shadow, l, word, false) : NULL;
        if (!c)
            continue;
        uint32_t low = word < from ? (uint32_t)(from - word) : 0;
        uint32_t high = to - word < CELL_BYTES ? (uint32_t)(to - word) : CELL_BYTES;
        uint32_t bytes = ((1u << high) - 1) & ~((1u << low) - 1);
        gr_exact_check(x, a, c, c->writes, a->view.lane, bytes, word);
        gr_exact_check(x, a, c, c->reads, a->view.lane, bytes, word);
        if (tables)
            gr_exact_check_tables(x, a, c, l, a->view.lane, bytes, word, false);
        if (bytes == ALL_BYTES && forget)
            forget_cell(x, c);
    }
    gr_exact_is_written(x, a, l);
    if (tables && forget)
        gr_exact_forget_tables(x, l, (unsigned)(first - at), (unsigned)(end - at));
    if (whole && forget)
        forget_line(x, l);
}

void gr_exact_meet_lines(Exact *x, Access *a, uint64_t from, uint64_t to, bool forget) {
    uint64_t line = from;
    for (Line *l; (l = gr_shadow_next_line(&x->shadow, &line, to)); line += LINE_BYTES)
        meet_line(x, a, l, line, from, to, forget);
}

void gr_exact_freed(Exact *x, const View *by, const Stamp *s, uint64_t at, uint64_t size) {
    Access a = {.view = *by};
    Stamp mine = *s;
    mine.access = PTX_ACCESS_WRITE;
    mine.mark |= STAMP_FREED;
    mine.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    a.stamp = gr_shadow_stamp(&x->shadow, &mine, x->moment);
    a.address[by->lane] = at;
    if (a.stamp)
        gr_stamp_reaches(&x->shadow.stamps.data[a.stamp], at, at + size);
    if (a.stamp) {
        gr_exact_meet_lines(x, &a, at, at + size, true);
        gr_exact_allocation_freed(x, &a, at);
    }
    gr_order_overwritten(&x->order, &x->order.sync, at, size);
    note(x, (FreedRange){at, size, mine, by->lane});
}

void gr_exact_device_freed(void *exact, const VmFreeEvent *e) {
    Exact *x = exact;
    x->moment++;
    gr_exact_make_room(x);
    Block *b = gr_exact_block_of(x, &e->where);
    if (!b || gr_exact_is_passed(x, b->launch, e->where.module, 0))
        return;
    uint32_t lane = (uint32_t)__builtin_ctz(e->where.mask);
    Warp *w = &b->warps[e->where.warp];
    View by = {.launch = b->launch, .block = b, .warp = w, .lane = lane};
    Stamp s = {.at = {b->id, w->epoch[lane], b->launch->index, w->index}, .site = site_of(x, e)};
    gr_exact_freed(x, &by, &s, e->address, e->size);
}

// ---- Accesses that come later --------------------------------------------------------------------------------------

void gr_exact_accesses_freed(Exact *x, Access *a, uint32_t size) {
    uint32_t lane = a->view.lane;
    uint64_t at = a->address[lane];
    const FreedRange *r = find(x, at, size);
    if (!r || gr_order_knows(&x->order, &a->view, &r->stamp.at, r->lane))
        return;
    FreedRange freed = *r;
    uint32_t other = gr_shadow_stamp(&x->shadow, &freed.stamp, x->moment);
    if (at < freed.at) { // the first byte that both touched
        size -= (uint32_t)(freed.at - at);
        at = freed.at;
    }
    uint64_t word = at & ~(uint64_t)(CELL_BYTES - 1);
    uint32_t low = (uint32_t)(at - word), high = size < CELL_BYTES - low ? low + size : CELL_BYTES;
    Entry e = {other, UINT32_C(1) << freed.lane, ALL_BYTES, ALL_BYTES};
    if (!other)
        return;
    gr_stamp_reaches(&x->shadow.stamps.data[other], freed.at, freed.at + freed.size);
    gr_stamp_reaches(&x->shadow.stamps.data[a->stamp], at, at + size);
    gr_exact_report(x, a, lane, word, ((1u << high) - 1) & ~((1u << low) - 1), &e, freed.lane, RACE_FREED);
}

void gr_exact_gone(void *exact, const VmAccessEvent *e) {
    Exact *x = exact;
    x->moment++;
    gr_exact_make_room(x);
    Block *b = x->freed.len ? gr_exact_block_of(x, &e->where) : NULL;
    if (!b || gr_exact_is_passed(x, b->launch, e->where.module, e->where.site))
        return;
    uint32_t lane = (uint32_t)__builtin_ctz(e->where.mask);
    Warp *w = &b->warps[e->where.warp];
    Access a = {.view = {.launch = b->launch, .block = b, .warp = w, .lane = lane}};
    Stamp s = {.at = {b->id, w->epoch[lane], b->launch->index, w->index},
               .site = gr_exact_site(x, e->where.module, e->where.site),
               .size = e->size,
               .access = (unsigned)e->access & 3};
    a.stamp = gr_shadow_stamp(&x->shadow, &s, x->moment);
    a.address[lane] = e->address[lane];
    if (a.stamp)
        gr_exact_accesses_freed(x, &a, e->size);
}
