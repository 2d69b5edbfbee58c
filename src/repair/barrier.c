// SPDX-License-Identifier: Apache-2.0
// barrier — places of barriers: by the ways from one side to the other that have none.
//
// In straight code there is one way, forwards from the textually first side to the second. In a loop that has both
// there is another one, around: from the second over the loop's end to the first of the next turn. Which side a run
// showed first says nothing: sides that nothing orders come in both orders. A way that has a barrier is not the one.
#include "repair/holds.h"
#include "repair/place.h"

#include <string.h>

// The sides in one function: the innermost places, of those that the accesses were inlined from, that share one; or,
// further out, the call that both are in.
typedef struct Level {
    GrRepairFile *file;
    const char *path;
    const GrFunctionCode *function;
    const GrStatement *side[2]; // as the text has them
    uint32_t frame[2];          // of the accesses' places
} Level;

// A way from one side to the other without a barrier.
typedef struct Way {
    Level level;
    const GrStatement *loop, *block; // loop: around it; else forwards, through statements of the block
    const GrStatement *inner[2];     // loop: the sides at the innermost level, if that is another one
    const GrFunctionCode *inner_function;
} Way;

enum { WAYS = 2, GAPS = 4, MOST_FINDINGS = 64, MOST_GAPS = 40 };

typedef struct Pair {
    const GrFinding *found;
    Way ways[WAYS]; // forwards first
    unsigned n;
} Pair;

typedef struct Search {
    GrPlaces *places;
    GrVaries most;
    GrHeldBy by;
    const char *text, *what;
    Pair pairs[MOST_FINDINGS];
    size_t n;
} Search;

// ---- The sides in the text ---------------------------------------------------------------------------------

static bool in_one(GrRepairs *r, const GrFrame *a, const GrFrame *b, Level *out) {
    if (!a->file || !b->file || !a->line || !b->line || strcmp(a->file, b->file))
        return false;
    out->file = gr_repair_file(r, a->file);
    out->path = a->file;
    out->function = out->file ? gr_cpp_function(&out->file->code, a->line) : NULL;
    if (!out->function || out->function != gr_cpp_function(&out->file->code, b->line))
        return false;
    const GrStatement *x = gr_cpp_at(&out->file->code, out->function, a->line, a->col),
                      *y = gr_cpp_at(&out->file->code, out->function, b->line, b->col);
    bool swapped = x && y && (y->from < x->from || (y->from == x->from && y->to > x->to));
    out->side[0] = swapped ? y : x;
    out->side[1] = swapped ? x : y;
    return x && y && (out->function->kernel || out->function->device);
}

static bool innermost(GrRepairs *r, const GrFinding *f, Level *out) {
    const GrAccess *a = &f->accesses[0], *b = &f->accesses[1];
    for (uint32_t k = 0; k <= b->n_inlined; k++)
        for (uint32_t i = 0; i <= a->n_inlined; i++)
            if (in_one(r, gr_access_frame(b, k), gr_access_frame(a, i), out)) {
                out->frame[0] = i;
                out->frame[1] = k;
                return true;
            }
    return false;
}

// The call that both sides are in, one function further out. False: there is none.
static bool outwards(GrRepairs *r, const GrFinding *f, const Level *from, Level *out) {
    const GrAccess *a = &f->accesses[0], *b = &f->accesses[1];
    uint32_t i = from->frame[0] + 1, k = from->frame[1] + 1;
    if (i > a->n_inlined || k > b->n_inlined ||
        !in_one(r, gr_access_frame(b, k), gr_access_frame(a, i), out) || out->side[0] != out->side[1])
        return false;
    out->frame[0] = i;
    out->frame[1] = k;
    return true;
}

// Whether all come to the function: to the lines from which it was inlined.
static bool all_call(Search *s, const GrFinding *f, const Level *level) {
    const GrAccess *a = &f->accesses[0];
    bool all = true;
    for (uint32_t k = level->frame[0] + 1; all && k <= a->n_inlined; k++) {
        const GrFrame *at = gr_access_frame(a, k);
        GrRepairFile *file = at->line ? gr_repair_file(s->places->repairs, at->file) : NULL;
        const GrFunctionCode *function = file ? gr_cpp_function(&file->code, at->line) : NULL;
        const GrStatement *call = function ? gr_cpp_at(&file->code, function, at->line, at->col) : NULL;
        const GrReach *reach = call ? gr_repair_reach(file, function) : NULL;
        all = reach && gr_reach_all(reach, call, s->most);
    }
    return all;
}

static const GrStatement *common(const GrStatement *a, const GrStatement *b) {
    for (; a; a = a->parent)
        for (const GrStatement *p = b; p; p = p->parent)
            if (p == a)
                return a;
    return NULL;
}

static const GrStatement *child_towards(const GrStatement *of, const GrStatement *s) {
    while (s && s->parent != of)
        s = s->parent;
    return s;
}

// ---- Ways --------------------------------------------------------------------------------------------------

static GrHolds holds_of(const Search *s, const Level *l, const GrGap *gaps, unsigned n) {
    return (GrHolds){.code = &l->file->code, .function = l->function, .by = s->by, .gaps = gaps, .n_gaps = n};
}

// Whether a barrier is on the way forwards: behind the first, between, or before the second.
static bool forwards_held(const GrHolds *h, const Way *w) {
    const GrStatement *const *side = w->level.side, *first = child_towards(w->block, side[0]),
                             *second = child_towards(w->block, side[1]);
    for (const GrStatement *q = first->next; q; q = q->next) {
        if (gr_holds_gap(h, w->block, q) || (q != second && gr_holds(h, q)))
            return true;
        if (q == second)
            break;
    }
    return gr_holds_behind(h, side[0], w->block) || gr_holds_before(h, side[1], w->block);
}

// From `a` around to `b`. Further out a side is a call: then what is behind or before it in the function counts, too.
static bool turn_held(const GrHolds *h, const Way *w, unsigned a, unsigned b) {
    if (gr_holds_behind(h, w->level.side[a], w->loop) || gr_holds_before(h, w->level.side[b], w->loop))
        return true;
    if (!w->inner_function)
        return false;
    GrHolds inner = *h;
    inner.function = w->inner_function;
    return gr_holds_behind(&inner, w->inner[a], NULL) || gr_holds_before(&inner, w->inner[b], NULL);
}

static bool way_held(Search *s, const Way *w, const GrGap *gaps, unsigned n) {
    GrHolds h = holds_of(s, &w->level, gaps, n);
    if (!w->loop)
        return forwards_held(&h, w);
    const GrStatement *both = common(w->level.side[0], w->level.side[1]);
    bool apart = both->kind == GR_STMT_IF; // neither comes before the other
    return turn_held(&h, w, 1, 0) && (!apart || turn_held(&h, w, 0, 1));
}

static const GrStatement *last_of(const GrStatement *block) {
    const GrStatement *last = block->child;
    while (last && last->next)
        last = last->next;
    return last;
}

// The innermost loop that has both sides and that all go round together. NULL: there is none.
static const GrStatement *loop_of(Search *s, const Level *l) {
    const GrReach *r = gr_repair_reach(l->file, l->function);
    for (const GrStatement *p = common(l->side[0], l->side[1]); p && r; p = p->parent) {
        const GrStatement *body = p->kind == GR_STMT_LOOP ? p->child : NULL;
        const GrStatement *last = body && body->kind == GR_STMT_BLOCK ? last_of(body) : NULL;
        if (last && gr_reach_all(r, last, s->most))
            return p;
    }
    return NULL;
}

static void add_way(Search *s, Pair *p, const Way *w) {
    if (!way_held(s, w, NULL, 0))
        p->ways[p->n++] = *w;
}

// The ways of a pair that have no barrier. False: the sides share no function.
static bool find_ways(Search *s, const GrFinding *f, Pair *p) {
    Level level, outer;
    *p = (Pair){.found = f};
    if (!innermost(s->places->repairs, f, &level))
        return false;
    const GrStatement *both = common(level.side[0], level.side[1]);
    if (both && both->kind == GR_STMT_BLOCK && level.side[0] != both && level.side[1] != both)
        add_way(s, p, &(Way){.level = level, .block = both});
    Way around = {.level = level, .loop = loop_of(s, &level)};
    while (!around.loop && outwards(s->places->repairs, f, &around.level, &outer)) {
        if (!around.inner_function) {
            around.inner_function = level.function;
            memcpy(around.inner, level.side, sizeof around.inner);
        }
        around.level = outer;
        around.loop = loop_of(s, &outer);
    }
    if (around.loop)
        add_way(s, p, &around);
    return true;
}

// ---- Gaps --------------------------------------------------------------------------------------------------

typedef struct Place {
    GrGap gap;
    const Level *level;
    const GrFinding *found;
} Place;

typedef struct PlaceVec {
    Place data[MOST_GAPS];
    unsigned len;
} PlaceVec;

static bool is_barrier(const GrHolds *any, const Level *l, const GrStatement *s) {
    return s && s->kind == GR_STMT_SIMPLE && s != l->side[0] && s != l->side[1] && gr_holds(any, s);
}

// The statement beside the gap that is a barrier already. NULL: there is none.
static const GrStatement *beside(const Search *s, const Level *l, const GrGap *g) {
    GrHolds any = {.code = &l->file->code, .function = l->function};
    const GrStatement *before = NULL;
    if (s->by == GR_HELD_BY_GAPS)
        return NULL;
    for (const GrStatement *q = g->block->child; q && q != g->before; q = q->next)
        before = q;
    return is_barrier(&any, l, before) ? before : is_barrier(&any, l, g->before) ? g->before : NULL;
}

// A narrower barrier, "__syncwarp();", alone in its line: the wider one can stand for it.
static bool is_alone(const GrCode *c, const GrStatement *s, GrHeldBy by) {
    const GrToken *t = &c->tokens.data[s->from];
    return (gr_token_is(t, "__syncwarp") || (by == GR_HELD_BY_CLUSTER && gr_token_is(t, "__syncthreads"))) &&
           s->first == s->last && gr_cpp_begins_line(c, s->from) &&
           (s->to >= c->tokens.len || gr_cpp_begins_line(c, s->to));
}

static void add_gap(Search *s, PlaceVec *v, const Way *w, const GrFinding *f, const GrStatement *block,
                    const GrStatement *before) {
    const GrCode *c = &w->level.file->code;
    const GrReach *r = gr_repair_reach(w->level.file, w->level.function);
    const GrStatement *at = before ? before : last_of(block);
    GrGap gap = {block, before};
    const GrStatement *there = beside(s, &w->level, &gap);
    if (v->len < MOST_GAPS && r && at && (!there || is_alone(c, there, s->by)) &&
        gr_cpp_begins_line(c, before ? before->from : block->to - 1) && gr_reach_all(r, at, s->most) &&
        all_call(s, f, &w->level))
        v->data[v->len++] = (Place){gap, &w->level, f};
}

// Before q and its predecessors down to, but not before, `first`.
static void add_gaps_up_to(Search *s, PlaceVec *v, const Way *w, const GrFinding *f, const GrStatement *block,
                           const GrStatement *first, const GrStatement *q) {
    while (q && q != first) {
        add_gap(s, v, w, f, block, q);
        const GrStatement *p = block->child;
        while (p && p->next != q)
            p = p->next;
        q = p;
    }
}

// Where a barrier may go on the way, the best place first: before the second side; at the end of the loop.
static void find_gaps(Search *s, const Way *w, const GrFinding *f, PlaceVec *v) {
    v->len = 0;
    if (!w->loop) {
        add_gaps_up_to(s, v, w, f, w->block, child_towards(w->block, w->level.side[0]),
                       child_towards(w->block, w->level.side[1]));
        return;
    }
    const GrStatement *body = w->loop->child, *first = child_towards(body, w->level.side[0]),
                      *second = child_towards(body, w->level.side[1]);
    add_gap(s, v, w, f, body, NULL);
    add_gaps_up_to(s, v, w, f, body, second, last_of(body));
    add_gaps_up_to(s, v, w, f, body, NULL, first);
}

// ---- Proposals ---------------------------------------------------------------------------------------------

// How many ways of the pair have a barrier with these gaps.
static unsigned held(Search *s, const Pair *p, const GrGap *gaps, unsigned n) {
    unsigned all = 0;
    for (unsigned k = 0; k < p->n; k++)
        all += way_held(s, &p->ways[k], gaps, n);
    return all;
}

// Whether each pair has one; `all`: on all its ways.
static bool fits(Search *s, const GrGap *gaps, unsigned n, bool all) {
    for (size_t k = 0; k < s->n; k++)
        if (held(s, &s->pairs[k], gaps, n) < (all ? s->pairs[k].n : 1))
            return false;
    return true;
}

// `loop`: the line of the loop whose turns the barrier keeps apart; 0: none.
static void propose(Search *s, const Place *const *at, unsigned n, uint32_t loop) {
    const Level *l = at[0]->level;
    GrProposal p = {.what = s->what, .file = l->path, .code = &l->file->code, .loop = loop};
    for (unsigned k = 0; k < n; k++) {
        const GrGap *g = &at[k]->gap;
        const GrStatement *there = beside(s, at[k]->level, g),
                          *like = g->before ? g->before : last_of(g->block);
        uint32_t line = there ? there->first : g->before ? g->before->first : g->block->last;
        if (at[k]->level->file != l->file ||
            !gr_place_insert(s->places, &p, line, there ? there->first : like->first, s->text))
            return;
        if (there) {
            p.edits[p.n - 1].line = line;
            p.edits[p.n - 1].replaces = true;
        }
    }
    gr_place_add(s->places, &p);
}

// The first place of the way that fits all pairs. NULL: there is none.
static const Place *fitting(Search *s, const PlaceVec *v) {
    for (unsigned k = 0; k < v->len; k++)
        if (fits(s, &v->data[k].gap, 1, false))
            return &v->data[k];
    return NULL;
}

// Places that all ways together need, each the one that most of the rest have.
static void cover(Search *s) {
    static const Place none;
    Place taken[GAPS] = {none};
    const Place *at[GAPS];
    GrGap gaps[GAPS];
    PlaceVec v;
    unsigned n = 0;
    for (size_t k = 0; k < s->n; k++)
        for (unsigned i = 0; i < s->pairs[k].n; i++) {
            if (way_held(s, &s->pairs[k].ways[i], gaps, n))
                continue;
            find_gaps(s, &s->pairs[k].ways[i], s->pairs[k].found, &v);
            size_t best = 0, most = 0;
            for (unsigned g = 0; g < v.len && n < GAPS; g++) {
                size_t all = 0;
                gaps[n] = v.data[g].gap;
                for (size_t j = 0; j < s->n; j++)
                    all += held(s, &s->pairs[j], gaps, n + 1);
                if (all > most) {
                    most = all;
                    best = g;
                }
            }
            if (!v.len || n == GAPS)
                return;
            taken[n] = v.data[best];
            gaps[n] = taken[n].gap;
            at[n] = &taken[n];
            n++;
        }
    if (n && fits(s, gaps, n, true))
        propose(s, at, n, 0);
}

// Whether the last pair's ways are those of one before it.
static bool is_known(const Search *s) {
    const Pair *last = &s->pairs[s->n];
    for (size_t k = 0; k < s->n; k++) {
        const Pair *p = &s->pairs[k];
        bool same = p->n == last->n;
        for (unsigned i = 0; same && i < p->n; i++) {
            const Way *a = &p->ways[i], *b = &last->ways[i];
            same = a->loop == b->loop && a->block == b->block && a->level.side[0] == b->level.side[0] &&
                   a->level.side[1] == b->level.side[1] && a->inner[0] == b->inner[0] &&
                   a->inner[1] == b->inner[1];
        }
        if (same)
            return true;
    }
    return false;
}

void gr_place_barrier(GrPlaces *p, const GrFinding *const *f, size_t n, GrVaries most, GrHeldBy by,
                      const char *text, const char *what) {
    Search s = {.places = p, .most = most, .by = by, .text = text, .what = what};
    PlaceVec forwards = {.len = 0}, around = {.len = 0};
    for (size_t k = 0; k < n; k++) {
        if (s.n == MOST_FINDINGS || !find_ways(&s, f[k], &s.pairs[s.n]) || !s.pairs[s.n].n)
            return;
        s.n += !is_known(&s);
    }
    uint32_t turns = 0;
    for (unsigned k = 0; k < s.pairs[0].n; k++) {
        const GrStatement *loop_at = s.pairs[0].ways[k].loop;
        turns = loop_at ? loop_at->first : turns;
        find_gaps(&s, &s.pairs[0].ways[k], f[0], s.pairs[0].ways[k].loop ? &around : &forwards);
    }
    const Place *one = fitting(&s, &forwards), *loop = fitting(&s, &around);
    if (one)
        propose(&s, &one, 1, 0);
    if (loop)
        propose(&s, &loop, 1, turns);
    cover(&s);
}
