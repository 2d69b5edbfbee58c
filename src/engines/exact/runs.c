// SPDX-License-Identifier: Apache-2.0
// runs — accesses of whole warps to lines that are told in runs: finds out at once what lanes would one at a time.
#include "engines/exact/exact_internal.h"
#include "engines/exact/shapes.h"

#include <string.h>

// FEW: with so many runs of reads, the next reads go into tables where they can. FIRST: so many of the NEWEST runs are
// looked at for what happens for the first time.
enum { NEWEST = 8, FIRST = 2, SCRAPS = 2, FEW = 4 };

static uint32_t size_of(const Exact *x, uint32_t stamp) { return x->shadow.stamps.data[stamp].size; }

// The first and the last byte of the line, and 1, that the lanes may touch.
static inline void extent_of(const Exact *x, uint32_t stamp, uint32_t lanes, Shape shape, int *from,
                             int *to) {
    Form form = gr_shape_form(shape);
    int base = gr_shape_base(shape), stride = gr_shape_stride(shape);
    *from = base + __builtin_ctz(lanes) * stride;
    *to = base + (31 - __builtin_clz(lanes)) * stride +
          (form < FORM_SAME    ? 1 << form
           : form == FORM_SAME ? (int)size_of(x, stamp)
                               : LINE_BYTES);
}

// The run has words in front of the access's first one or behind its last one.
static inline bool sticks_out(const Exact *x, const Access *a, const Run *r, uint32_t lanes, Shape shape) {
    int from, to, first, end;
    extent_of(x, r->stamp, r->lanes, r->shape, &from, &to);
    extent_of(x, a->stamp, lanes, shape, &first, &end);
    return from / CELL_BYTES < first / CELL_BYTES || (to - 1) / CELL_BYTES > (end - 1) / CELL_BYTES;
}

// The lanes of the run that must be remembered beside the access (history.c says why). Words that the access does not
// cover are not looked at more closely: that would cost more than it saves.
static uint32_t still_needed(const Exact *x, Access *a, const Run *r, uint32_t lanes, Shape shape) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *t = &x->shadow.stamps.data[r->stamp];
    bool same = gr_shape_form(shape) == FORM_SAME, alike = gr_run_lies(r, shape);
    bool halved = gr_shape_is_halved(shape) || gr_shape_is_halved(r->shape);
    if (halved && (!alike || (r->lanes & ~lanes))) // not looked at more closely
        return r->lanes;
    if (r->stamp == a->stamp && !a->late) // of its own warp's instruction a lane knows what it did itself
        return alike && (!same || !(r->lanes & ~lanes)) ? r->lanes & ~lanes : r->lanes;
    bool over = gr_exact_is_over(x, a, t);
    if (!over && !gr_exact_same_kind(t, mine))
        return r->lanes;
    if (alike && !same && !(r->lanes & lanes))
        return r->lanes;
    if (!alike && (same || gr_shape_form(shape) < FORM_STEP2 || sticks_out(x, a, r, lanes, shape) ||
                   (gr_shape_words(r->shape, r->lanes, gr_shape_form(r->shape) == FORM_SAME ? t->size : 0) &
                    ~gr_shape_words(shape, lanes, 0))))
        return r->lanes;
    if (over)
        return 0;
    bool own = gr_exact_is_own(x, a, r->stamp);
    if (alike && !same)
        return own || gr_exact_all_know(x, a, lanes, r->stamp) ? r->lanes & ~lanes : r->lanes;
    if (alike && own && !(r->lanes & ~lanes))
        return 0;
    return gr_exact_all_know(x, a, lanes, r->stamp) ? 0 : r->lanes;
}

// ---- Stores of what is there already -------------------------------------------------------------------------------
//
// Races of stores of one value are told from others (history.c, `changed`), and a run tells whether it changed
// anything. A store finds that out only if it meets older ones of its launch in the line, and only until one of these
// changed something: an access that races with all of them races with different values then. A store that meets only
// stores of earlier launches counts as one that changes something.

// What the access meets of the older runs.
typedef struct Met {
    int from, to; // its bytes
    bool any;     // some of its launch
    bool changed; // and one of these did not find there what it stored
    bool mixed;   // where an older one had been
} Met;

static void meet(const Exact *x, const Access *a, Met *met, const Run *r, uint32_t lanes, Shape shape) {
    int from, to;
    if (gr_run_lies(r, shape)) {
        if (!(r->lanes & lanes))
            return;
    } else {
        extent_of(x, r->stamp, r->lanes, r->shape, &from, &to);
        if (from >= met->to || met->from >= to)
            return;
    }
    const Stamp *stamps = x->shadow.stamps.data;
    if (stamps[r->stamp].at.launch != stamps[a->stamp].at.launch)
        return;
    met->mixed |= met->changed || r->shape & SHAPE_AGAIN;
    met->changed |= !(r->shape & SHAPE_SILENT);
    met->any = true;
}

// The lanes whose store to the line finds there all that it stores.
static uint32_t silent_lanes(const Exact *x, Access *a, uint32_t lanes, Shape shape) {
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    uint32_t size = s->size, silent = lanes;
    if (!(s->mark & STAMP_COMPARED) || a->owner)
        return 0;
    if (a->glance) {
        if (!a->glance->same)
            return 0;
        if (!a->compared)
            a->glance->same(a->glance, a->unchanged);
        a->compared = true;
        for (uint32_t k = 0; k < ACCESS_WORDS && k * CELL_BYTES < size; k++)
            silent &= a->unchanged[k];
        return silent;
    }
    for (uint32_t m = lanes; m; m &= m - 1) {
        int from, to;
        extent_of(x, a->stamp, m & -m, shape, &from, &to);
        for (int word = from & ~(CELL_BYTES - 1); word < to; word += CELL_BYTES) {
            uint32_t low = word < from ? (uint32_t)(from - word) : 0,
                     high = to - word < CELL_BYTES ? (uint32_t)(to - word) : CELL_BYTES;
            if (!gr_exact_is_silent(a, (uint32_t)__builtin_ctz(m), a->line_at + (uint64_t)word,
                                    ((1u << high) - 1) & ~((1u << low) - 1)))
                silent &= ~(m & -m);
        }
    }
    return silent;
}

// r loses lanes, and the news that it changed anything: the next newer run counts as having changed it.
static inline void lose(Run *first, Run *newer, Run *r, uint32_t left) {
    if (r->lanes != left && !(r->shape & SHAPE_SILENT))
        newer->shape &= ~(Shape)SHAPE_SILENT;
    if (r->lanes != left && r->shape & SHAPE_AGAIN)
        first->shape &= ~(Shape)SHAPE_SILENT;
    r->lanes = left;
}

// ---- What is kept --------------------------------------------------------------------------------------------------

// Drops the run that *link names if it has no lanes left, else counts it. Yields the link of the next one.
static uint32_t *pass_run(Shadow *s, uint32_t *link, uint16_t *length) {
    Run *r = &s->runs.data[*link - 1];
    if (!r->lanes) {
        gr_run_drop(s, link);
        return link;
    }
    *length = (uint16_t)(*length + (*length < UINT16_MAX));
    return &r->next;
}

// Drops the runs behind `first` that are not needed any more.
static void tidy(Exact *x, Access *a, Line *line, unsigned side, uint32_t lanes, Shape shape) {
    Shadow *s = &x->shadow;
    Run *first = &line->side[side];
    uint16_t length = 1;
    Run *newer = first;
    for (uint32_t *link = &first->next; *link;) {
        Run *r = &s->runs.data[*link - 1];
        lose(first, newer, r, still_needed(x, a, r, lanes, shape));
        if (r->lanes && line->tables[1] && gr_exact_takes_reads(x, a))
            r->lanes &= ~gr_exact_done_again(x, line, r);
        newer = r->lanes ? r : newer;
        link = pass_run(s, link, &length);
    }
    line->length[side] = length;
    gr_run_all_placed(s, line, side);
}

// The access has been added to `first`: takes from the next older runs what it replaces. Else lanes that come one by
// one would leave parts of older runs behind, launch after launch.
static void trim(Exact *x, Access *a, Line *line, unsigned side, uint32_t lanes, Shape shape) {
    Shadow *s = &x->shadow;
    uint32_t *link = &line->side[side].next;
    uint16_t *length = &line->length[side];
    Run *first = &line->side[side], *newer = first;
    for (unsigned k = 0; k < NEWEST && *link; k++) {
        Run *r = &s->runs.data[*link - 1];
        lose(first, newer, r, still_needed(x, a, r, lanes, shape));
        if (r->lanes) {
            newer = r;
            link = &r->next;
            continue;
        }
        gr_run_drop(s, link);
        *length = (uint16_t)(*length - (*length > 1 && *length < UINT16_MAX));
    }
}

static uint32_t retire_run(Exact *x, const Access *a, Line *line, const Run *r) {
    uint32_t launch = x->shadow.stamps.data[r->stamp].at.launch, mine = a->view.launch->index;
    return launch != mine && gr_exact_knows_launch(x, mine, launch)
               ? gr_exact_retire(x, line, r->stamp, r->lanes, r->shape)
               : r->lanes;
}

// Moves what earlier launches wrote into tables. Yields the lanes that are left of the first run.
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
    gr_run_all_placed(s, line, side);
    return retire_run(x, a, line, first);
}

// Adds another access under the stamp of run r to r. `met`: the newer runs that it meets.
static void join(Exact *x, Access *a, Run *r, uint32_t lanes, Shape shape, const Met *met) {
    bool meets = met->any && !(r->shape & SHAPE_AGAIN), silent = false;
    if ((meets && !met->mixed) || r->shape & SHAPE_SILENT)
        silent = silent_lanes(x, a, lanes, shape) == lanes;
    if (meets && !silent)
        r->shape |= SHAPE_AGAIN;
    if (!silent)
        r->shape &= ~(Shape)SHAPE_SILENT;
    r->lanes |= lanes;
}

// Puts a run in front of the others of that side. Lanes that changed nothing have a run of their own.
static void push(Exact *x, Access *a, Line *line, unsigned side, uint32_t lanes, Shape shape, bool asks) {
    uint32_t silent = asks ? silent_lanes(x, a, lanes, shape) : 0;
    if (lanes & ~silent)
        gr_run_push(&x->shadow, line, side, a->stamp, lanes & ~silent, shape);
    if (silent)
        gr_run_push(&x->shadow, line, side, a->stamp, silent, shape | SHAPE_SILENT);
}

// No older run can be of the access's stamp, which is of this event, except one of the warp's other half.
static bool is_first(const Exact *x, const Access *a, uint32_t lanes) {
    return a->owner && (lanes & (lanes - 1)) && x->shadow.stamps.data[a->stamp].first == x->moment;
}

static void remember(Exact *x, Access *a, Line *line, unsigned side, uint32_t lanes, Shape shape,
                     bool tables) {
    Shadow *s = &x->shadow;
    Run *first = &line->side[side], *r = first;
    const uint16_t *length = &line->length[side];
    const Stamp *mine = &s->stamps.data[a->stamp];
    // A table is for reads by many warps. Runs pass reads of one warp by many instructions at once, too (SHAPE_ALIKE).
    bool alone = tables && gr_exact_has_many_tables(x, line) && gr_run_is_alike(s, first, a->stamp, shape);
    if (tables && !alone && line->tables[1] && !(lanes = gr_exact_note_reads(x, a, line, lanes, shape)))
        return;
    bool apart = gr_exact_reads_apart(a, mine);
    Met met = {.any = false};
    uint64_t other = 0;
    if (!side)
        extent_of(x, a->stamp, lanes, shape, &met.from, &met.to);
    for (unsigned k = 0, newest = side && is_first(x, a, lanes) ? FIRST : NEWEST; k < newest; k++) {
        if (gr_run_lies(r, shape)) {
            if (r->stamp == a->stamp) {
                if (r == first && (lanes & ~r->lanes))
                    trim(x, a, line, side, lanes, shape);
                join(x, a, r, lanes, shape, &met);
                return;
            }
            if (apart && (!(lanes & ~r->lanes) || gr_shape_form(shape) == FORM_SAME) &&
                gr_exact_is_told(x, mine, &s->stamps.data[r->stamp], &other))
                return;
        }
        if (!side)
            meet(x, a, &met, r, lanes, shape);
        if (!r->next)
            break;
        r = &s->runs.data[r->next - 1];
    }
    uint32_t left = still_needed(x, a, first, lanes, shape);
    // What goes may have changed something.
    bool asks = met.any && !met.mixed && (first->lanes == left || first->shape & SHAPE_SILENT);
    bool few = alone || *length < (x->options.tables_at ? x->options.tables_at : FEW);
    if (left && !few && tables) {
        first->lanes = left;
        lanes = gr_exact_note_reads(x, a, line, lanes, shape);
        if (!lanes)
            return;
    } else if (left && !few && !(*length & (*length - 1)) && !a->owner && mine->access == PTX_ACCESS_WRITE) {
        first->lanes = left;
        left = retire(x, a, line, side);
    }
    if (!left) { // what it changed has been changed still
        bool silent = first->shape & SHAPE_SILENT && silent_lanes(x, a, lanes, shape) == lanes;
        first->stamp = a->stamp;
        first->lanes = lanes;
        first->shape = silent ? shape | SHAPE_SILENT : shape;
        gr_run_placed(s, line, side);
    } else {
        first->lanes = left;
        push(x, a, line, side, lanes, shape, asks);
    }
    if (*length >= 16 && !(*length & (*length - 1)) && (*length & 0x5550)) // 16, 64, 256, …
        tidy(x, a, line, side, lanes, shape);
}

// The run has few scattered lanes, which cells tell better.
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
        (mine->stamp != a->stamp || (mine->shape & ~(Shape)(SHAPE_ALONE | SHAPE_ALIKE)) != shape) &&
        are_scraps(x, mine))
        return false;
    if (!a->late) {
        bool clean = reads && gr_exact_is_clean(x, a, line);
        if (!clean && writes->stamp && !gr_exact_is_clear(x, a, writes, lanes, shape))
            return false;
        if (!reads && line->side[1].stamp && !gr_exact_is_clear(x, a, &line->side[1], lanes, shape))
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
