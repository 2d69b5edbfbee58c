// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/ready.h"

#include <string.h>

uint64_t gr_passes_blocks(const GrLaunch *l) { return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2]; }

uint64_t gr_passes_threads(const GrLaunch *l) { return (uint64_t)l->block[0] * l->block[1] * l->block[2]; }

// How many rounds n units with m copies take: ceil(log_m n).
static uint64_t rounds_of(uint64_t n, uint64_t m) {
    uint64_t rounds = 1;
    for (uint64_t groups = m; groups < n; groups *= m)
        rounds++;
    return rounds;
}

static uint64_t power(uint64_t m, uint64_t e) {
    uint64_t n = 1;
    while (e--)
        n *= m;
    return n;
}

bool gr_log_has_found(const GrPrivLog *log) {
    for (unsigned k = 0; k < GR_MOST_FOUND; k++)
        if (log->found[k].state)
            return true;
    return false;
}

// As few copies as need no more rounds: then there is less to compare.
enum { MANY_COPIES = 256, MOST_THREADS = 1024 }; // MOST_THREADS: of a block

static uint64_t fewest(uint64_t units, uint64_t rounds) {
    uint64_t m = 2;
    while (power(m, rounds) < units)
        m++;
    return m;
}

static uint64_t lines_of(const Passes *p) { return p->layout->span / GR_LINE; }

// What copies of all near memory may take. With more, they leave little of the cache that local memory needs, and ends
// of regions take longer than with owners.
enum { MOST_DENSE = 160 << 10 };

// The part of the launch's shared memory that is near (control.h): all of it, if its row, or with `units` their copies,
// fit behind it.
static GrPrivNear near_of(const Passes *p, uint32_t mode, uint64_t units, uint64_t window) {
    GrPrivNear none = {0}, near = {.first = p->reserved_shared,
                                   .size = (uint32_t)p->layout->shared_bytes - p->reserved_shared,
                                   .shift = p->near_shift,
                                   .entry = p->near_entry,
                                   .units = (uint32_t)units};
    near.stride = near.size + (uint32_t)window;
    near.says = GR_NEAR_SAYS(&near);
    uint32_t most = units && p->most_shared > MOST_DENSE ? MOST_DENSE : p->most_shared;
    bool fits = mode == GR_OF_WARPS && near.entry && near.size && !(near.first % GR_LINE) &&
                GR_NEAR_END(&near) <= most;
    near.owners = GR_NEAR_OWNERS(&near) - (near.first >> near.shift) * near.entry;
    near.heads = GR_NEAR_HEADS(&near) - near.first / GR_LINE * (uint32_t)sizeof(GrPrivRow);
    return fits ? near : none;
}

static uint64_t bytes_of_numbers(const Passes *p, const PassPlan *plan) {
    return near_of(p, plan->mode, 0, 0).size / GR_LINE * GR_NEAR_NUMBERS(plan->copies);
}

// The bytes of a block's notes, or of the launch's.
static uint64_t bytes_of_notes(const Passes *p, const PassPlan *plan) {
    uint64_t blocks = plan->mode != GR_OF_BLOCKS ? 1 : gr_passes_blocks(p->launch);
    return plan->room.notes * sizeof(uint64_t) * gr_passes_threads(p->launch) * blocks;
}

static uint64_t bytes_of_stage(const Passes *p, const PassPlan *plan) {
    uint64_t blocks = plan->mode != GR_OF_BLOCKS ? 1 : gr_passes_blocks(p->launch);
    return plan->room.stage ? (gr_passes_threads(p->launch) + 31) / 32 * blocks * GR_STAGE : 0;
}

// The bytes of a window with the union, and a word and a byte for each unit of each line.
static uint64_t bytes_of_window(const GrPrivWindow *w, uint64_t units) {
    return (units + 1) * w->size + w->size / GR_LINE * (sizeof(uint32_t) + units);
}

// The bytes that keep the shared memory of blocks that meet.
static uint64_t bytes_of_shared(const Passes *p, const PassPlan *plan) {
    return p->meets && plan->mode == GR_OF_BLOCKS ? gr_passes_blocks(p->launch) * 2 * p->block_shared : 0;
}

#define BYTES_OF_COPY (GR_LINE + sizeof(GrPrivMark))

// The overlay has as many rows as all slots, but no more than there are lines.
static uint64_t overlay_rows(const Passes *p, const PassPlan *plan) {
    uint64_t rows = plan->slots * plan->room.rows;
    return !plan->exchanges ? 0 : rows <= lines_of(p) ? rows : lines_of(p) + 1;
}

static uint64_t bytes_of_slot(const Passes *p, const PassPlan *plan) {
    return lines_of(p) * sizeof(uint32_t) +
           plan->room.rows * (GR_ROW_BYTES(plan->copies) + 2 * sizeof(uint32_t)) +
           plan->room.copies * BYTES_OF_COPY + bytes_of_numbers(p, plan) + bytes_of_notes(p, plan) +
           bytes_of_stage(p, plan) + bytes_of_shared(p, plan);
}

// The room that the launch can use. One row more than there are lines: a thread that looks for room just when another
// has taken the last line's row finds some, and looks again.
static PassRoom usable(const Passes *p, PassRoom room, uint64_t copies) {
    uint64_t rows = room.rows <= lines_of(p) ? room.rows : lines_of(p) + 1, most = rows * copies;
    return (PassRoom){rows, room.copies < most ? room.copies : most, room.notes, room.stage};
}

// The bytes that the plan takes. *whole: with as many blocks at once as the device runs.
static uint64_t bytes_of(const Passes *p, const PassPlan *plan) {
    return (plan->slots + plan->exchanges) * bytes_of_slot(p, plan) +
           overlay_rows(p, plan) * GR_ROW_BYTES(plan->copies);
}

static uint64_t warps_of(const GrLaunch *l) { return (gr_passes_threads(l) + 31) / 32; }

static bool plan(const Passes *p, uint32_t mode, uint32_t threads, PassRoom room, uint64_t most,
                 PassPlan *out, bool *whole) {
    uint64_t blocks = gr_passes_blocks(p->launch);
    *out = (PassPlan){.mode = mode,
                      .threads = threads,
                      .units = mode != GR_OF_BLOCKS ? (gr_passes_threads(p->launch) + threads - 1) / threads
                               : p->whole           ? gr_passes_blocks(p->launch) * warps_of(p->launch)
                                                    : p->clusters};
    most = most < 2 ? 2 : most;
    out->rounds = rounds_of(out->units, most);
    out->copies = p->most_copies ? most : fewest(out->units, out->rounds);
    out->room = usable(p, room, out->copies);
    uint64_t slots = mode == GR_OF_BLOCKS ? 1 : blocks < p->most_slots ? blocks : p->most_slots;
    out->slots = p->budget / bytes_of_slot(p, out);
    if (!out->slots) { // then as many private copies as there is room for
        out->room.copies = 0;
        uint64_t others = bytes_of_slot(p, out);
        out->room.copies = p->budget > others ? (p->budget - others) / BYTES_OF_COPY : 0;
        out->slots = out->room.copies > 0;
    }
    *whole = out->slots >= slots;
    out->slots = out->slots > slots ? slots : out->slots;
    PassPlan all = *out;
    all.slots = blocks;
    all.exchanges = mode != GR_OF_BLOCKS && p->exchanges;
    if (all.exchanges && bytes_of(p, &all) <= p->budget) {
        *out = all;
        *whole = true;
    }
    return out->slots > 0;
}

// The launch's window, without its copies. size 0: it has none, or copies for all units are too large.
static GrPrivWindow window_of(const Passes *p, const PassPlan *plan) {
    enum { MOST_BYTES = 256 << 20, PAGE = 1 << 16 }; // the GPU looks at all of it
    GrPrivSpan spans[GR_SPANS] = {{0}};
    GrPrivWindow w = {.at = UINT64_MAX};
    uint64_t end = 0;
    // Rows hold what blocks tell each other at barriers of the grid.
    if (plan->exchanges || !gr_window_spans(p, plan->mode, spans))
        return (GrPrivWindow){0};
    for (unsigned k = 0; k < GR_SPANS && spans[k].lines; k++) {
        uint64_t high = spans[k].at + (uint64_t)spans[k].lines * GR_LINE;
        w.at = spans[k].at < w.at ? spans[k].at : w.at;
        end = high > end ? high : end;
    }
    w.size = end - w.at;
    if (plan->mode != GR_OF_BLOCKS) // within a page all memory is there
        return w.size <= p->most_shared && w.at / PAGE == (end - 1) / PAGE &&
                       near_of(p, plan->mode, plan->units, w.size).size
                   ? w
                   : (GrPrivWindow){0};
    uint64_t all = bytes_of_window(&w, plan->units);
    return w.size < MOST_BYTES && all < MOST_BYTES && all < p->budget ? w : (GrPrivWindow){0};
}

static bool plan_some(const Passes *p, uint32_t mode, uint32_t threads, PassRoom room, PassPlan *out) {
    bool whole;
    if (!p->most_copies && mode != GR_OF_BLOCKS && plan(p, mode, threads, room, MOST_THREADS, out, &whole) &&
        whole)
        return true; // one round
    return plan(p, mode, threads, room, p->most_copies ? p->most_copies : MANY_COPIES, out, &whole);
}

bool gr_passes_plan(const Passes *p, uint32_t mode, uint32_t threads, PassRoom room, PassPlan *out) {
    GrPrivSpan spans[GR_SPANS];
    PassPlan ready;
    if (!plan_some(p, mode, threads, room, out))
        return false;
    out->dense = out->rounds == 1 &&
                 (mode == GR_OF_BLOCKS
                      ? p->windows && window_of(p, out).size
                      : mode == GR_OF_WARPS && threads > 1 && p->dense && p->known &&
                            (p->pads ? window_of(p, out).size : near_of(p, mode, out->units, 0).size));
    // A second block in a slot would find the rows as the first one left them.
    bool fits = p->proved && !p->meets && !out->exchanges &&
                (mode == GR_OF_BLOCKS || out->slots >= gr_passes_blocks(p->launch));
    uint64_t lines = fits ? gr_ready_spans(p, mode, spans) : 0, slots = out->slots;
    room.rows += lines;
    if (lines && slots * lines <= GR_MOST_READY && plan_some(p, mode, threads, room, &ready) &&
        ready.slots == slots && ready.room.copies >= out->room.copies) {
        ready.dense = out->dense;
        *out = ready;
        out->ready = (uint32_t)lines;
    }
    return true;
}

bool gr_room_more(PassRoom *r, uint32_t full) {
    if (full == GR_FULL_NOTES && r->notes >= GR_MOST_NOTES)
        return false;
    if (full == GR_FULL_NOTES)
        r->notes *= 8;
    else
        r->copies *= 8;
    if (full == GR_FULL_ROWS)
        r->rows *= 8;
    return true;
}

bool gr_room_exceeds(const PassRoom *r, const PassRoom *other) {
    return r->rows > other->rows || r->copies > other->copies || r->notes > other->notes;
}

bool gr_passes_more(const Passes *p, PassPlan *plan, uint32_t full) {
    PassRoom room = plan->room;
    PassPlan larger;
    if (!gr_room_more(&room, full) || !gr_passes_plan(p, plan->mode, plan->threads, room, &larger) ||
        !gr_room_exceeds(&larger.room, &plan->room))
        return false;
    *plan = larger;
    return true;
}

static CUdeviceptr log_at(const Passes *p, uint32_t mode) {
    return p->memory->log.at + (mode - GR_OF_BLOCKS) * sizeof(GrPrivLog);
}

// Sets the control, and `zero_bytes` of p->memory->small to 0. The GPU skips the round if earlier work on the same
// tables was cut short.
static CUresult set(const Passes *p, const GrPrivControl *c, uint64_t zero_bytes) {
    GrPrivSet set = {.control = *c, .to = p->control, .zeros = p->memory->small.at, .zero_bytes = zero_bytes};
    uint64_t most = 16 * (uint64_t)p->groups, warps = c->slots * c->ready, groups;
    bool within = c->mode == GR_OF_WARPS; // blocks: two levels have the same tables then
    if (c->mode != GR_AS_IT_IS && p->submitted[within]) {
        set.before = log_at(p, within ? GR_OF_WARPS : GR_OF_BLOCKS);
        set.n_before = within ? GR_LEVEL_LANES - GR_OF_WARPS + 1 : 1;
    }
    if (c->ready)
        (void)gr_ready_spans(p, c->mode, set.spans);
    if (c->window.size && c->mode == GR_OF_BLOCKS)
        warps = 4 * (set.lines = gr_window_spans(p, c->mode, set.spans));
    void *params[] = {&set};
    groups = 64 + warps / 8;
    groups = groups < most ? groups : most;
    return p->d->launch(p->set, p->groups == 1 ? 1 : (unsigned)groups, 1, 1, 256, 1, 1, 0, p->launch->stream,
                        params, NULL);
}

static CUresult step(const Passes *p, CUfunction kernel) {
    CUdeviceptr control = p->control;
    void *params[] = {&control};
    return p->d->launch(kernel, p->groups, 1, 1, 256, 1, 1, 0, p->launch->stream, params, NULL);
}

// Launches a step of a window, with a warp for each line.
static CUresult window_step(const Passes *p, CUfunction kernel) {
    GrPrivWindowed w = {.control = p->control};
    uint64_t most = 16 * (uint64_t)p->groups, groups;
    w.lines = gr_window_spans(p, GR_OF_BLOCKS, w.spans);
    groups = w.lines / 8 + 1 < most ? w.lines / 8 + 1 : most;
    void *params[] = {&w};
    return p->d->launch(kernel, p->groups == 1 ? 1 : (unsigned)groups, 1, 1, 256, 1, 1, 0, p->launch->stream,
                        params, NULL);
}

static CUresult run_blocks(const Passes *p, GrPrivControl *c, uint64_t small) {
    CUresult rc = set(p, c, small);
    if (p->meets) // the blocks do both, and what is between
        return rc == CUDA_SUCCESS ? p->run->submit(p->run, NULL) : rc;
    for (unsigned pass = 1; pass <= 2 && rc == CUDA_SUCCESS; pass++) { // the merge sets the second
        rc = p->run->submit(p->run, NULL);
        if (rc == CUDA_SUCCESS && c->window.size)
            rc = window_step(p, pass == 1 ? p->merge_window : p->check_window);
        else if (rc == CUDA_SUCCESS)
            rc = step(p, pass == 1 ? p->merge : p->check);
    }
    return rc;
}

// Meanwhile the program's kernel may have more dynamic shared memory than the program asked for.
static CUresult run_warps(const Passes *p, GrPrivControl *c, uint64_t small) {
    const CUfunction_attribute most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    CUfunction f = p->function;
    int had = 0;
    CUresult rc = set(p, c, small);
    if (!c->near.size)
        return rc == CUDA_SUCCESS ? p->run->submit(p->run, NULL) : rc;
    uint32_t more = GR_NEAR_END(&c->near) - p->own_shared;
    int needed = (int)(p->launch->shared_bytes + more);
    rc = rc == CUDA_SUCCESS ? p->d->attribute(&had, most, f) : rc;
    if (rc == CUDA_SUCCESS && needed > had)
        rc = p->d->set_attribute(f, most, needed);
    p->run->more_shared = more;
    rc = rc == CUDA_SUCCESS ? p->run->submit(p->run, NULL) : rc;
    p->run->more_shared = 0;
    CUresult restored = needed > had ? p->d->set_attribute(f, most, had) : CUDA_SUCCESS;
    return rc == CUDA_SUCCESS ? restored : rc;
}

// Sets the tables and extents, if the last launch had others.
static CUresult prepare_tables(Passes *p, struct Tables *m, uint64_t slots, uint64_t ready) {
    const PrivatizerDriver *d = p->d;
    const Layout *l = p->layout;
    CUstream stream = p->launch->stream;
    uint64_t bytes = lines_of(p) * sizeof(uint32_t), number = gr_layout_number(l) ^ ready;
    size_t extent_bytes = l->extents.len * sizeof *l->extents.data;
    if (m->layout == number && m->n_clean >= slots)
        return CUDA_SUCCESS;
    m->n_clean = 0;
    m->layout = number;
    p->memory->clean_numbers = 0;
    CUresult rc = gr_buffer_grow(d, &m->tables, slots * bytes, p->launch->stream);
    rc = rc == CUDA_SUCCESS ? gr_buffer_grow(d, &m->extents, extent_bytes + 1, p->launch->stream) : rc;
    if (rc == CUDA_SUCCESS && extent_bytes)
        rc = d->write(m->extents.at, l->extents.data, extent_bytes, stream);
    rc = rc == CUDA_SUCCESS ? gr_layout_tables(d, l, m->tables.at, bytes, slots, stream) : rc;
    m->n_clean = rc == CUDA_SUCCESS ? slots : 0;
    return rc;
}

static struct Tables *tables_of(const Passes *p, const PassPlan *plan) {
    return &p->memory->of[plan->mode != GR_OF_BLOCKS];
}

// Sets a log for each level, all of them empty.
static CUresult prepare_logs(Passes *p) {
    const PrivatizerDriver *d = p->d;
    Memory *m = p->memory;
    CUresult rc = gr_buffer_grow(d, &m->log, GR_LEVELS * sizeof(GrPrivLog), p->launch->stream);
    if (rc == CUDA_SUCCESS && !m->logs_are_empty)
        rc = d->fill(m->log.at, 0, GR_LEVELS * sizeof(GrPrivLog), p->launch->stream);
    m->logs_are_empty = rc == CUDA_SUCCESS;
    return rc;
}

static CUresult prepare_numbers(Passes *p, uint64_t bytes) {
    Memory *m = p->memory;
    m->clean_numbers = bytes > m->numbers.size ? 0 : m->clean_numbers;
    CUresult rc = gr_buffer_grow(p->d, &m->numbers, bytes, p->launch->stream);
    if (rc == CUDA_SUCCESS && bytes > m->clean_numbers) {
        rc = p->d->fill(m->numbers.at, 0, bytes, p->launch->stream);
        m->clean_numbers = rc == CUDA_SUCCESS ? bytes : 0;
    }
    return rc;
}

// The launch's clusters have several blocks.
static bool in_clusters(const Passes *p) { return p->cluster[0] * p->cluster[1] * p->cluster[2] > 1; }

// Gets device memory for the plan with that many slots, and sets the control but for what a round sets. *small: bytes
// that each round finds 0. `once`: as control->once.
static CUresult prepare(Passes *p, const PassPlan *to, uint64_t slots, bool once, GrPrivControl *c,
                        size_t *small) {
    const PrivatizerDriver *d = p->d;
    const Layout *l = p->layout;
    Memory *m = p->memory;
    uint64_t blocks = gr_passes_blocks(p->launch), row_bytes = GR_ROW_BYTES(to->copies),
             head_bytes = (slots * sizeof(GrPrivSlot) + 7) / 8 * 8,
             sum_bytes = 2 * to->copies * GR_SUMS * sizeof(uint64_t);
    *small =
        (head_bytes + sum_bytes + (slots + blocks) * sizeof(uint32_t) + (once ? lines_of(p) : 0) + 7) / 8 * 8;
    struct Tables *tables = tables_of(p, to);
    CUresult rc = prepare_tables(p, tables, slots, to->ready ? gr_ready_number(p, to->mode) : 0);
    rc = rc == CUDA_SUCCESS
             ? gr_buffer_grow(d, &m->rows, (slots * to->room.rows + overlay_rows(p, to)) * row_bytes,
                              p->launch->stream)
             : rc;
    rc = rc == CUDA_SUCCESS
             ? gr_buffer_grow(d, &m->copies, slots * to->room.copies * GR_LINE, p->launch->stream)
             : rc;
    rc = rc == CUDA_SUCCESS
             ? gr_buffer_grow(d, &m->marks, slots * to->room.copies * sizeof(GrPrivMark), p->launch->stream)
             : rc;
    rc = rc == CUDA_SUCCESS
             ? gr_buffer_grow(d, &m->lists, slots * to->room.rows * 2 * sizeof(uint32_t), p->launch->stream)
             : rc;
    rc = rc == CUDA_SUCCESS && !once ? prepare_numbers(p, slots * bytes_of_numbers(p, to)) : rc;
    rc = rc == CUDA_SUCCESS ? gr_buffer_grow(d, &m->notes, slots * bytes_of_notes(p, to), p->launch->stream)
                            : rc;
    rc = rc == CUDA_SUCCESS ? gr_buffer_grow(d, &m->stage, slots * bytes_of_stage(p, to), p->launch->stream)
                            : rc;
    rc = rc == CUDA_SUCCESS ? gr_buffer_grow(d, &m->shared, bytes_of_shared(p, to), p->launch->stream) : rc;
    GrPrivWindow window = to->dense ? window_of(p, to) : (GrPrivWindow){0};
    GrPrivNear near = near_of(p, to->mode, to->dense ? to->units : 0, window.size);
    if (rc == CUDA_SUCCESS && window.size && to->mode == GR_OF_BLOCKS)
        rc = gr_buffer_grow(d, &m->window, bytes_of_window(&window, to->units), p->launch->stream);
    window.copies = to->mode == GR_OF_BLOCKS ? m->window.at : near.first + near.size;
    window.stored = window.copies + (to->units + 1) * window.size + window.size / GR_LINE * sizeof(uint32_t);
    rc = rc == CUDA_SUCCESS ? gr_buffer_grow(d, &m->small, *small, p->launch->stream) : rc;
    rc = rc == CUDA_SUCCESS ? prepare_logs(p) : rc;
    if (rc == CUDA_SUCCESS && p->spent && !m->spent.at) {
        rc = gr_buffer_grow(d, &m->spent, GR_SPENT * sizeof *p->spent, p->launch->stream);
        rc = rc == CUDA_SUCCESS ? d->fill(m->spent.at, 0, m->spent.size, p->launch->stream) : rc;
    }
    *c = (GrPrivControl){.mode = to->mode == GR_OF_BLOCKS ? GR_OF_BLOCKS : GR_OF_WARPS,
                         .lanes = to->mode == GR_LEVEL_LANES,
                         .pass = 1,
                         .slots = slots,
                         .arena = l->arena,
                         .arena_bytes = l->arena_bytes,
                         .shared_bytes = l->shared_bytes,
                         .own_shared = p->own_shared,
                         .held_shared = in_clusters(p) ? UINT32_MAX : p->own_shared,
                         .span = l->span,
                         .slot = m->small.at,
                         .tables = tables->tables.at,
                         .table_bytes = lines_of(p) * sizeof(uint32_t),
                         .lists = m->lists.at,
                         .rows = m->rows.at,
                         .row_bytes = row_bytes,
                         .numbers = m->numbers.at,
                         .near = once ? (GrPrivNear){0} : near,
                         .copies = m->copies.at,
                         .rows_from = m->rows.at - row_bytes,
                         .copies_from = m->copies.at - (uint64_t)GR_COPY_FIRST * GR_LINE,
                         .arena_table = tables->tables.at + l->shared_bytes / GR_LINE * sizeof(uint32_t),
                         .marks = m->marks.at,
                         .notes = m->notes.at,
                         .stage = m->stage.at,
                         .note_bytes = to->room.notes * sizeof(uint64_t),
                         .extents = tables->extents.at,
                         .n_extents = (uint32_t)l->extents.len,
                         .n_inside = l->n_inside,
                         .capacity = (uint32_t)to->room.rows,
                         .most_copies = (uint32_t)to->room.copies,
                         .privates = (uint32_t)to->copies,
                         .threads = to->threads,
                         .shared_kept = m->shared.at,
                         .exchanges = to->exchanges,
                         .overlay_rows = (uint32_t)overlay_rows(p, to),
                         .ready = window.size && to->mode == GR_OF_BLOCKS ? 0 : to->ready,
                         .whole = p->whole && to->mode == GR_OF_BLOCKS,
                         .window = window,
                         .block_shared = p->block_shared,
                         .block_reserved = p->block_reserved,
                         .granule = once ? 0 : p->granule,
                         .log = log_at(p, to->mode),
                         .sums = m->small.at + head_bytes,
                         .all = p->all,
                         .most_notes = (uint32_t)(GR_MOST_NOTES * sizeof(uint64_t)),
                         .cluster = {p->cluster[0], p->cluster[1], p->cluster[2]},
                         .most_rounds = p->most_rounds,
                         .spent = p->spent ? m->spent.at : 0,
                         .once = once};
    if (!once) {
        memcpy(c->only_read, p->proved->only_read, sizeof c->only_read);
        memcpy(c->only_written, p->proved->only_written[to->mode != GR_OF_BLOCKS], sizeof c->only_written);
        bool known = p->known && to->mode == GR_OF_WARPS && (c->near.size || !p->near_entry);
        c->known = to->dense ? GR_KNOWN_DENSE : known ? GR_KNOWN : GR_KNOWN_NOT;
    }
    c->taken = c->sums + sum_bytes;
    c->slot_of = c->taken + slots * sizeof(uint32_t);
    c->changed = c->slot_of + blocks * sizeof(uint32_t);
    uint64_t bytes = slots * bytes_of_slot(p, to) + overlay_rows(p, to) * row_bytes +
                     (c->window.size && to->mode == GR_OF_BLOCKS ? bytes_of_window(&window, to->units) : 0);
    p->peak = bytes > p->peak ? bytes : p->peak;
    return rc;
}

// Notes what of the kept memory is not as a launch expects it, from what a level's log says.
static void heed(Passes *p, uint32_t mode, const GrPrivLog *log, CUresult rc) {
    const uint64_t *words = (const uint64_t *)&log->head;
    for (size_t k = 0; k < sizeof log->head / sizeof *words; k++)
        if (words[k])
            p->memory->logs_are_empty = false;
    if (rc != CUDA_SUCCESS ||
        gr_is_cut_short(log->head.apart, log->head.full, log->head.waited, p->exchanges))
        p->memory->of[mode != GR_OF_BLOCKS].n_clean = 0;
}

void gr_passes_forget(Passes *p) {
    p->memory->logs_are_empty = false;
    p->memory->of[0].n_clean = p->memory->of[1].n_clean = 0;
}

static CUresult read_log(Passes *p, uint32_t mode, GrPrivLog *log) {
    CUresult rc = p->d->read(log, log_at(p, mode), sizeof *log, p->launch->stream);
    rc = rc == CUDA_SUCCESS ? p->d->wait(p->launch->stream) : rc;
    heed(p, mode, log, rc);
    return rc;
}

CUresult gr_passes_spent(Passes *p) {
    const Buffer *of = &p->memory->spent;
    uint64_t cycles[GR_SPENT];
    if (!p->spent || !of->at)
        return CUDA_SUCCESS;
    CUresult rc = p->d->read(cycles, of->at, sizeof cycles, p->launch->stream);
    rc = rc == CUDA_SUCCESS ? p->d->fill(of->at, 0, sizeof cycles, p->launch->stream) : rc;
    rc = rc == CUDA_SUCCESS ? p->d->wait(p->launch->stream) : rc;
    for (unsigned k = 0; k < GR_SPENT && rc == CUDA_SUCCESS; k++)
        p->spent[k] += cycles[k];
    return rc;
}

// Submits everything but the end: the mode is not set back.
static CUresult submit(Passes *p, const PassPlan *plan, uint64_t first, uint64_t rounds,
                       const GrPrivAsk *ask) {
    GrPrivControl c;
    size_t small;
    PassPlan own = *plan;
    own.dense = plan->dense && !ask;
    CUresult rc = prepare(p, &own,
                          plan->exchanges ? plan->slots + 1
                          : ask           ? 1
                                          : plan->slots,
                          false, &c, &small);
    uint64_t known = c.known;
    if (plan->exchanges) // the last one is the overlay
        c.slots = plan->slots;
    if (ask)
        c.ask = *ask;
    for (c.round = (uint32_t)first; c.round < first + rounds && rc == CUDA_SUCCESS; c.round++) {
        c.divide = power(plan->copies, plan->rounds - 1 - c.round);
        c.alone = c.mode == GR_OF_BLOCKS ? !c.whole
                                         : c.threads == 1 && c.divide == 1 && plan->copies >= plan->units;
        c.known = !ask && (c.alone || c.threads > 1) ? known : GR_KNOWN_NOT;
        rc = plan->mode == GR_OF_BLOCKS ? run_blocks(p, &c, small) : run_warps(p, &c, small);
        p->submitted[plan->mode != GR_OF_BLOCKS] = true;
        p->rounds += !ask;
    }
    return rc;
}

CUresult gr_passes_submit(Passes *p, const PassPlan *plan) { return submit(p, plan, 0, plan->rounds, NULL); }

static CUresult make_heads(const PrivatizerDriver *d, Memory *m) {
    CUresult rc = m->heads ? CUDA_SUCCESS
                           : d->host_alloc((void **)&m->heads, sizeof *m->heads, CU_MEMHOSTALLOC_DEVICEMAP);
    if (rc == CUDA_SUCCESS)
        m->heads->number = 0;
    if (rc == CUDA_SUCCESS)
        rc = d->of_host(&m->heads_at, m->heads, 0);
    return rc;
}

// Waits until the word, in the host's memory, is `value` times `of` or a little more. The GPU writes it sooner than the
// driver tells; the driver is asked now and then, as a launch may have failed. If the failed one is the program's own,
// which comes last, the GPU has written the word all the same.
static CUresult wait_for(const Passes *p, const uint64_t *word, uint64_t of, uint64_t value) {
    enum { LOOKS = 4096 };
    const PrivatizerDriver *d = p->d;
    CUresult rc = d->is_cpu ? d->event_wait(p->behind) : CUDA_ERROR_NOT_READY;
    bool said = false;
    while (!said) {
        for (unsigned k = 0; k < LOOKS && !said; k++)
            said = __atomic_load_n(word, __ATOMIC_ACQUIRE) / of == value;
        if (!said && rc != CUDA_ERROR_NOT_READY)
            return rc == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : rc;
        rc = said ? CUDA_SUCCESS : d->event_query(p->behind);
    }
    return rc;
}

// *says: GR_GATE_...; 0: the logs say nothing.
static CUresult wait_for_heads(Passes *p, unsigned *says) {
    const Memory *m = p->memory;
    const uint64_t of = GR_AGAIN(1, 0);
    CUresult rc = wait_for(p, &m->heads->number, GR_GATE, m->number);
    unsigned said = rc == CUDA_SUCCESS ? (unsigned)(m->heads->number % GR_GATE) : GR_GATE_HELD;
    for (unsigned k = 0; k < GR_LEVELS && rc == CUDA_SUCCESS && said == GR_GATE_AGAIN; k++) {
        rc = wait_for(p, &m->heads->again[k], of, (uint32_t)m->number);
        p->again[k] = m->heads->again[k] % of;
    }
    *says = rc == CUDA_SUCCESS ? said : GR_GATE_HELD;
    return rc;
}

CUresult gr_passes_end(Passes *p, bool *held) {
    const PrivatizerDriver *d = p->d;
    Memory *m = p->memory;
    CUresult rc = !p->behind ? CUDA_ERROR_OUT_OF_MEMORY : m->heads_at ? CUDA_SUCCESS : make_heads(d, m);
    GrPrivGate gate = {.control = p->control, .logs = m->log.at, .to = m->heads_at, .number = ++m->number};
    unsigned says = GR_GATE_HELD;
    memset(p->again, 0, sizeof p->again);
    memcpy(gate.expected, p->expected, sizeof gate.expected);
    void *params[] = {&gate};
    if (rc == CUDA_SUCCESS)
        rc = d->launch(p->gate, 1, 1, 1, 32, 1, 1, 0, p->launch->stream, params, NULL);
    if (rc == CUDA_SUCCESS)
        rc = p->run->submit(p->run, NULL);
    if (rc == CUDA_SUCCESS)
        rc = d->event_record(p->behind, p->launch->stream);
    rc = rc == CUDA_SUCCESS ? wait_for_heads(p, &says) : rc;
    *held = says == GR_GATE_HELD;
    return rc;
}

bool gr_passes_says(Passes *p, uint32_t mode, GrPrivLog *log) {
    static const GrPrivHead empty;
    const GrPrivHeads *heads = p->memory->heads;
    unsigned level = mode - GR_OF_BLOCKS;
    memset(log, 0, sizeof *log);
    log->head = heads->of[level];
    uint64_t n = heads->n[level] < GR_MOST_FOUND ? heads->n[level] : GR_MOST_FOUND;
    memcpy(log->found, heads->found[level], n * sizeof *log->found);
    heed(p, mode, log, CUDA_SUCCESS);
    return memcmp(&log->head, &empty, sizeof empty);
}

CUresult gr_passes_release(Passes *p) {
    static const GrPrivControl none = {.mode = GR_AS_IT_IS};
    return set(p, &none, 0);
}

CUresult gr_passes_run(Passes *p, const PassPlan *plan, uint64_t first, uint64_t rounds, const GrPrivAsk *ask,
                       GrPrivLog *log) {
    memset(log, 0, sizeof *log);
    CUresult rc = submit(p, plan, first, rounds, ask), restored = gr_passes_release(p);
    rc = rc == CUDA_SUCCESS ? restored : rc;
    if (rc == CUDA_SUCCESS)
        return read_log(p, plan->mode, log);
    tables_of(p, plan)->n_clean = 0;
    return rc;
}

bool gr_passes_plan_once(const Passes *p, uint32_t threads, PassRoom room, PassPlan *out) {
    uint64_t blocks = gr_passes_blocks(p->launch);
    *out = (PassPlan){.mode = GR_OF_WARPS,
                      .threads = threads,
                      .units = (gr_passes_threads(p->launch) + threads - 1) / threads,
                      .slots = blocks,
                      .rounds = 1};
    out->copies = out->units;
    out->room = usable(p, room, out->copies);
    return blocks < p->budget / bytes_of_slot(p, out);
}

CUresult gr_passes_once(Passes *p, const PassPlan *plan, GrPrivLog *log) {
    GrPrivControl c;
    size_t small;
    memset(log, 0, sizeof *log);
    CUresult rc = prepare(p, plan, plan->slots + 1, true, &c, &small); // and one with the bases of all blocks
    c.slots = plan->slots;
    c.divide = 1;
    rc = rc == CUDA_SUCCESS ? run_warps(p, &c, small) : rc;
    rc = rc == CUDA_SUCCESS ? read_log(p, plan->mode, log) : rc;
    if (rc == CUDA_SUCCESS && !log->head.outside && !log->head.over && !log->head.apart && !log->head.full)
        rc = step(p, p->commit);
    if (rc == CUDA_SUCCESS) // the next launch, in another stream maybe, has the same rows
        rc = p->d->wait(p->launch->stream);
    tables_of(p, plan)->n_clean = 0;
    CUresult restored = gr_passes_release(p);
    return rc == CUDA_SUCCESS ? restored : rc;
}
