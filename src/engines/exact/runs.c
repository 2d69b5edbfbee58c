// SPDX-License-Identifier: Apache-2.0
// runs — accesses of whole warps to lines that are told in runs: what one lane at a time would find out, found out at once.
#include "engines/exact/exact_internal.h"

// FEW: with so many runs of reads, the next ones go into tables where they can.
enum { NEWEST = 8, SCRAPS = 2, FEW = 4 };

bool gr_exact_is_own(const Exact *x, const Access *a, uint32_t stamp) {
    const Point *p = &x->shadow.stamps.data[stamp].at;
    return p->warp == a->view.warp->index && p->epoch <= gr_order_own(&a->view, p->id);
}

bool gr_exact_all_know(const Exact *x, Access *a, uint32_t lanes, uint32_t stamp) {
    const Stamp *t = &x->shadow.stamps.data[stamp];
    if (a->view.op)
        a->view.lane = (uint32_t)__builtin_ctz(lanes);
    if ((a->view.op ? a->view.op->even : !a->view.warp->own) || gr_exact_came_before(x, a, t->at.launch))
        return gr_exact_knows_stamp(x, a, stamp, t);
    for (uint32_t m = lanes; m; m &= m - 1) {
        a->view.lane = (uint32_t)__builtin_ctz(m);
        if (!gr_exact_knows_stamp(x, a, stamp, t))
            return false;
    }
    return true;
}

// The words of the line that the lanes touch, a bit for each.
static uint32_t words_of(Shape shape, uint32_t lanes, uint32_t size) {
    Form form = gr_shape_form(shape);
    int base = gr_shape_base(shape);
    if (form == FORM_STEP2 && gr_shape_stride(shape) == CELL_BYTES)
        return base >= 0 ? lanes << (base / CELL_BYTES) : lanes >> (-base / CELL_BYTES);
    if (form == FORM_WHOLE)
        return UINT32_MAX;
    uint32_t words = 0;
    int step = gr_shape_stride(shape);
    if (form == FORM_STEP2 && !((base | step) % CELL_BYTES)) {
        for (uint32_t m = lanes; m; m &= m - 1)
            words |= UINT32_C(1) << (uint32_t)(base + __builtin_ctz(m) * step) / CELL_BYTES;
        return words;
    }
    int bytes = form == FORM_SAME ? (int)size : 1 << form;
    for (uint32_t m = lanes; m; m = step ? m & (m - 1) : 0) {
        int from = base + __builtin_ctz(m) * step;
        for (int w = from / CELL_BYTES; w * CELL_BYTES < from + bytes && w < LINE_CELLS; w++)
            words |= UINT32_C(1) << w;
    }
    return words;
}

static uint32_t size_of(const Exact *x, uint32_t stamp) { return x->shadow.stamps.data[stamp].size; }

// None of what the chain holds can race with the access. False: it is not that simple.
static bool is_clear(const Exact *x, Access *a, const Run *r, uint32_t lanes, Shape shape) {
    for (;;) {
        if (r->stamp != a->known) {
            bool alike = r->shape == shape;
            if (!(alike && gr_shape_form(shape) != FORM_SAME && gr_exact_is_own(x, a, r->stamp)) &&
                !gr_exact_all_know(x, a, lanes, r->stamp) &&
                (words_of(r->shape, r->lanes, size_of(x, r->stamp)) &
                 words_of(shape, lanes, size_of(x, a->stamp))))
                return false;
        }
        if (!r->next)
            return true;
        r = &x->shadow.runs.data[r->next - 1];
    }
}

// What of the run has to be remembered beside the access (history.c says why). What the access does not cover is not looked at
// more closely: that would cost more than it saves.
static uint32_t still_needed(const Exact *x, Access *a, const Run *r, uint32_t lanes, Shape shape) {
    bool same = gr_shape_form(shape) == FORM_SAME;
    if (r->shape == shape && !same && !(r->lanes & lanes))
        return r->lanes;
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *t = &x->shadow.stamps.data[r->stamp];
    if (r->shape != shape &&
        (same || gr_shape_form(shape) < FORM_STEP2 ||
         (words_of(r->shape, r->lanes, gr_shape_form(r->shape) == FORM_SAME ? t->size : 0) &
          ~words_of(shape, lanes, 0))))
        return r->lanes;
    if (gr_exact_is_over(x, a, t))
        return 0;
    if (!gr_exact_same_kind(t, mine))
        return r->lanes;
    bool own = gr_exact_is_own(x, a, r->stamp);
    if (r->shape == shape && !same)
        return own || gr_exact_all_know(x, a, lanes, r->stamp) ? r->lanes & ~lanes : r->lanes;
    if (r->shape == shape && own && !(r->lanes & ~lanes))
        return 0;
    return gr_exact_all_know(x, a, lanes, r->stamp) ? 0 : r->lanes;
}

// Drops the run that *link names if it has no lanes left, else counts it. Yields the link of the next one.
static uint32_t *pass_run(Shadow *s, uint32_t *link, uint16_t *length) {
    Run *r = &s->runs.data[*link - 1];
    if (!r->lanes) {
        gr_run_drop(s, link);
        return link;
    }
    *length += *length < UINT16_MAX;
    return &r->next;
}

// Drops what is not needed any more of the runs behind `first`.
static void tidy(Exact *x, Access *a, Line *line, unsigned side, uint32_t lanes, Shape shape) {
    Shadow *s = &x->shadow;
    Run *first = &line->side[side];
    uint16_t length = 1;
    for (uint32_t *link = &first->next; *link;) {
        Run *r = &s->runs.data[*link - 1];
        r->lanes = still_needed(x, a, r, lanes, shape);
        if (r->lanes && line->tables[1] && gr_exact_takes_reads(x, a))
            r->lanes &= ~gr_exact_done_again(x, line, r);
        link = pass_run(s, link, &length);
    }
    line->length[side] = length;
}

// The access has been added to `first`: the next older runs lose what it takes the place of. Else lanes that come one by one would
// leave behind what the first of them did not cover, launch after launch.
static void trim(Exact *x, Access *a, Line *line, unsigned side, uint32_t lanes, Shape shape) {
    Shadow *s = &x->shadow;
    uint32_t *link = &line->side[side].next;
    uint16_t *length = &line->length[side];
    for (unsigned k = 0; k < NEWEST && *link; k++) {
        Run *r = &s->runs.data[*link - 1];
        r->lanes = still_needed(x, a, r, lanes, shape);
        if (r->lanes) {
            link = &r->next;
            continue;
        }
        gr_run_drop(s, link);
        *length -= *length > 1 && *length < UINT16_MAX;
    }
}

static uint32_t retire_run(Exact *x, const Access *a, Line *line, const Run *r) {
    uint32_t launch = x->shadow.stamps.data[r->stamp].at.launch, mine = a->view.launch->index;
    return launch != mine && gr_exact_knows_launch(x, mine, launch)
               ? gr_exact_retire(x, line, r->stamp, r->lanes, r->shape)
               : r->lanes;
}

// Moves what earlier launches wrote into tables. Yields what is left of the first run.
static uint32_t retire(Exact *x, const Access *a, Line *line, unsigned side) {
    Shadow *s = &x->shadow;
    Run *first = &line->side[side];
    uint16_t length = 1;
    for (uint32_t *link = &first->next; *link;) {
        Run *r = &s->runs.data[*link - 1];
        r->lanes = retire_run(x, a, line, r);
        link = pass_run(s, link, &length);
    }
    line->length[side] = length;
    return retire_run(x, a, line, first);
}

static void remember(Exact *x, Access *a, Line *line, unsigned side, uint32_t lanes, Shape shape,
                     bool tables) {
    Shadow *s = &x->shadow;
    Run *first = &line->side[side], *r = first;
    const uint16_t *length = &line->length[side];
    const Stamp *mine = &s->stamps.data[a->stamp];
    if (tables && line->tables[1] && !(lanes = gr_exact_note_reads(x, a, line, lanes, shape)))
        return;
    bool apart = gr_exact_reads_apart(a, mine);
    uint64_t other = 0;
    for (unsigned k = 0; k < NEWEST; k++) {
        if (r->shape == shape) {
            if (r->stamp == a->stamp) {
                if (r == first && (lanes & ~r->lanes))
                    trim(x, a, line, side, lanes, shape);
                r->lanes |= lanes;
                return;
            }
            if (apart && (!(lanes & ~r->lanes) || gr_shape_form(shape) == FORM_SAME) &&
                gr_exact_is_told(x, mine, &s->stamps.data[r->stamp], &other))
                return;
        }
        if (!r->next)
            break;
        r = &s->runs.data[r->next - 1];
    }
    uint32_t left = still_needed(x, a, first, lanes, shape);
    bool few = *length < (x->options.tables_at ? x->options.tables_at : FEW);
    if (left && !few && tables) {
        first->lanes = left;
        lanes = gr_exact_note_reads(x, a, line, lanes, shape);
        if (!lanes)
            return;
    } else if (left && !few && !(*length & (*length - 1)) && !a->owner && mine->access == PTX_ACCESS_WRITE) {
        first->lanes = left;
        left = retire(x, a, line, side);
    }
    if (!left) {
        first->stamp = a->stamp;
        first->lanes = lanes;
        first->shape = shape;
    } else {
        first->lanes = left;
        gr_run_push(s, line, side, a->stamp, lanes, shape);
    }
    if (*length >= 16 && !(*length & (*length - 1)) && (*length & 0x5550)) // 16, 64, 256, …
        tidy(x, a, line, side, lanes, shape);
}

// Lanes here and there, for which cells are better.
static bool are_scraps(const Exact *x, const Run *r) {
    for (unsigned k = 0; k < SCRAPS; k++) {
        if (r->lanes & (r->lanes - 1))
            return false;
        if (!r->next)
            break;
        r = &x->shadow.runs.data[r->next - 1];
    }
    return true;
}

bool gr_exact_touch_line(Exact *x, Access *a, Line *line, uint32_t lanes, Shape shape, bool reads) {
    Run *writes = &line->side[0], *mine = &line->side[reads];
    bool tables = reads && mine->stamp && gr_exact_takes_reads(x, a);
    if (!tables && !(lanes & (lanes - 1)) && line->length[reads] >= SCRAPS &&
        (mine->stamp != a->stamp || mine->shape != shape) && are_scraps(x, mine))
        return false;
    if (!a->late) {
        bool clean = reads && gr_exact_is_clean(x, a, line);
        if (!clean && writes->stamp && !is_clear(x, a, writes, lanes, shape))
            return false;
        if (!reads && line->side[1].stamp && !is_clear(x, a, &line->side[1], lanes, shape))
            return false;
        if (!clean && gr_line_has_tables(line, reads) &&
            !gr_exact_clear_of_tables(x, a, line, lanes, shape, size_of(x, a->stamp), reads))
            return false;
    }
    if (!reads)
        gr_exact_is_written(x, a, line);
    if (mine->stamp)
        remember(x, a, line, reads, lanes, shape, tables);
    else {
        *mine = (Run){.stamp = a->stamp, .lanes = lanes, .shape = shape};
        line->length[reads] = 1;
    }
    return true;
}
