// SPDX-License-Identifier: Apache-2.0
// meets — compares an access with the runs of a line: it comes after them, or it races as before, which is only
// counted.
//
// A line may have dozens of runs, most of them of few warps in few epochs. So what the access knows of a warp in an
// epoch is found out once, and a pair of two sites is looked up once for all runs of one instruction.
#include "engines/exact/again.h"
#include "engines/exact/shapes.h"

// What the lanes of an access know of what a warp did in one epoch.
typedef enum Knows { KNOWS_NOTHING, KNOWS_ITSELF, KNOWS_SOME, KNOWS_ALL } Knows;

enum { ANSWERS = 8 };

typedef struct Meeting {
    Exact *x;
    Access *a;
    uint32_t lanes;
    Shape shape;
    uint32_t words;          // of the line, that the lanes touch; 0: not found out yet
    bool begun, plain;       // pairs have been looked up, or it is known that they cannot be
    uint32_t asked[ANSWERS]; // by warp: a stamp of the point that was asked for last; 0: none
    uint8_t knows[ANSWERS];  // the answers
    uint32_t stamp;          // of the runs that `found` is for; 0: none
    FoundRace *found;
    uint32_t sound; // the last stamp that was checked
} Meeting;

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

// ---- What the access knows -----------------------------------------------------------------------------------------

static Knows find_knows(const Meeting *m, uint32_t stamp) {
    const Point *p = &m->x->shadow.stamps.data[stamp].at;
    m->x->looks++;
    return gr_order_knows_none(&m->a->view, p)              ? KNOWS_NOTHING
           : gr_exact_all_know(m->x, m->a, m->lanes, stamp) ? KNOWS_ALL
           : gr_order_knows_only_itself(&m->a->view, p)     ? KNOWS_ITSELF
                                                            : KNOWS_SOME;
}

static inline bool same_point(const Point *p, const Point *q) {
    return p->id == q->id && p->epoch == q->epoch && p->launch == q->launch && p->warp == q->warp;
}

static Knows knows(Meeting *m, uint32_t stamp) {
    const Stamp *stamps = m->x->shadow.stamps.data;
    unsigned k = stamps[stamp].at.warp % ANSWERS;
    if (!m->asked[k] || !same_point(&stamps[m->asked[k]].at, &stamps[stamp].at)) {
        m->knows[k] = (uint8_t)find_knows(m, stamp);
        m->asked[k] = stamp;
    }
    return (Knows)m->knows[k];
}

// ---- Races that have been found ------------------------------------------------------------------------------------

static uint32_t size_of(const Meeting *m, uint32_t stamp) { return m->x->shadow.stamps.data[stamp].size; }

// The lanes that race if each knows only its own accesses: those where another lane of the warp was.
static uint32_t meet_others(const Meeting *m, const Run *r, uint32_t words) {
    uint32_t mine[LINE_CELLS], theirs[LINE_CELLS], racing = 0;
    if (gr_shape_is_words(m->shape) && gr_shape_is_words(r->shape)) {
        for (unsigned k = 0; k < 4; k++) { // each half of both
            Shape mine_lie = gr_shape_words_of_half(m->shape, k & 1),
                  they_lie = gr_shape_words_of_half(r->shape, k >> 1);
            uint32_t they = r->lanes & UINT32_C(0xffff) << 16 * (k >> 1);
            if (mine_lie != they_lie)
                racing |= gr_shape_lanes_at(mine_lie, m->lanes & UINT32_C(0xffff) << 16 * (k & 1), CELL_BYTES,
                                            words & gr_shape_words(they_lie, they, CELL_BYTES));
        }
        return racing;
    }
    gr_shape_by_word(m->shape, m->lanes, size_of(m, m->a->stamp), mine);
    gr_shape_by_word(r->shape, r->lanes, size_of(m, r->stamp), theirs);
    for (uint32_t w = words; w; w &= w - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(w), u = theirs[k];
        racing |= u & (u - 1) ? mine[k] : mine[k] & ~u;
    }
    return racing;
}

static uint32_t ask_each(const Meeting *m, const Run *r, uint32_t words) {
    const Stamp *t = &m->x->shadow.stamps.data[r->stamp];
    View *v = &m->a->view;
    uint32_t mine[LINE_CELLS], theirs[LINE_CELLS], racing = 0;
    gr_shape_by_word(m->shape, m->lanes, size_of(m, m->a->stamp), mine);
    gr_shape_by_word(r->shape, r->lanes, t->size, theirs);
    for (uint32_t w = words; w; w &= w - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(w);
        for (uint32_t l = mine[k] & ~racing; l; l &= l - 1) {
            v->lane = (uint32_t)__builtin_ctz(l);
            for (uint32_t u = theirs[k]; u && !(racing & l & -l); u &= u - 1)
                if (!gr_order_knows(&m->x->order, v, &t->at, (uint32_t)__builtin_ctz(u)))
                    racing |= l & -l;
        }
    }
    return racing;
}

// Several lanes of the run are in each of its words.
static bool has_several(const Run *r) {
    uint32_t low = r->lanes & 0xffff, high = r->lanes >> 16;
    return gr_shape_form(r->shape) == FORM_PAIR
               ? (!low || (low & (low - 1))) && (!high || (high & (high - 1)))
               : !gr_shape_stride(r->shape) && (r->lanes & (r->lanes - 1));
}

// The lanes that race with what the run has of these words.
static inline uint32_t racing_lanes(const Meeting *m, const Run *r, Knows knows, uint32_t words) {
    if (knows == KNOWS_NOTHING || (knows == KNOWS_ITSELF && has_several(r)))
        return gr_shape_lanes_at(m->shape, m->lanes, size_of(m, m->a->stamp), words);
    return knows == KNOWS_ITSELF ? meet_others(m, r, words) : ask_each(m, r, words);
}

// Checks one of the lanes for all, and one run for those of its instruction.
static bool is_sound(Meeting *m, const Run *r, uint32_t racing, uint32_t words) {
    const Access *a = m->a;
    const Stamp *t = &m->x->shadow.stamps.data[r->stamp];
    if (m->sound == r->stamp)
        return true;
    m->sound = r->stamp;
    uint32_t lane = racing & -racing;
    words &= gr_shape_words(m->shape, lane, size_of(m, a->stamp));
    uint32_t u = gr_shape_lanes_at(r->shape, r->lanes, t->size, words & -words);
    if (t->at.id == a->view.block->id && t->at.warp == a->view.warp->index)
        u &= ~lane; // it does not race with itself
    bool checked = a->checked;
    m->a->checked |= u != 0;
    return !u || (checked ? gr_exact_is_sound_with : gr_exact_is_sound)(
                     m->x, a, (uint32_t)__builtin_ctz(lane), t, (uint32_t)__builtin_ctz(u),
                     a->line_at + (uint64_t)__builtin_ctz(words) * CELL_BYTES);
}

// A race of the access with one under the stamp would be of a pair that has been found: m->found.
static bool find_pair(Meeting *m, uint32_t stamp) {
    Exact *x = m->x;
    const Stamp *mine = &x->shadow.stamps.data[m->a->stamp], *t = &x->shadow.stamps.data[stamp];
    if (m->stamp == stamp)
        return true;
    if (!m->begun)
        m->plain = gr_stamp_is_plain(mine) && mine->size >= CELL_BYTES && gr_exact_only_numbers_matter(x);
    m->begun = true;
    if (!m->plain || (mine->access != PTX_ACCESS_READ && t->access != PTX_ACCESS_READ) ||
        t->size < CELL_BYTES || !gr_stamp_is_plain(t) ||
        !gr_exact_find_again(x, m->a, t, RACE_READ_WRITE, &m->found))
        return false;
    m->stamp = stamp;
    return true;
}

// Counts the access's race with what the run has of these words, if any, as one of a pair that has been found. False:
// not that simple.
static bool is_again(Meeting *m, const Run *r, Knows knows, uint32_t words) {
    if (!find_pair(m, r->stamp))
        return false;
    uint32_t racing = racing_lanes(m, r, knows, words);
    if (!racing)
        return true;
    if (!is_sound(m, r, racing, words))
        return false;
    m->x->reports++;
    gr_exact_count(m->found, m->x->moment, racing);
    return true;
}

// ---- All -----------------------------------------------------------------------------------------------------------

// The access comes after the run, or has raced with it as before. *rest: the access comes after the older runs of the
// chain as well.
static bool passes(Meeting *m, const Run *r, bool *rest) {
    bool alike = gr_shape_form(m->shape) != FORM_SAME && gr_run_lies(r, m->shape);
    if (r->stamp == m->a->known || (alike && gr_exact_is_own(m->x, m->a, r->stamp))) {
        *rest = gr_run_says(r, r->stamp == m->a->known ? SHAPE_ALONE : SHAPE_ALIKE);
        return true;
    }
    Knows k = knows(m, r->stamp);
    *rest = k == KNOWS_ALL && gr_run_says(r, SHAPE_ALONE);
    if (k == KNOWS_ALL)
        return true;
    if (!m->words)
        m->words = gr_shape_words(m->shape, m->lanes, size_of(m, m->a->stamp));
    uint32_t both = m->words & gr_shape_words(r->shape, r->lanes, size_of(m, r->stamp));
    return !both || is_again(m, r, k, both);
}

bool gr_exact_is_clear(Exact *x, Access *a, const Run *r, uint32_t lanes, Shape shape) {
    Meeting m = {.x = x, .a = a, .lanes = lanes, .shape = shape};
    bool rest = false;
    for (;; r = &x->shadow.runs.data[r->next - 1]) {
        if (!passes(&m, r, &rest))
            return false;
        if (rest || !r->next)
            return true;
    }
}
