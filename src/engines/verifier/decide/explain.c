// SPDX-License-Identifier: Apache-2.0
// explain — drops one fact of the launch after the other: a proof needs those that it cannot lose. The set is minimal.
#include "engines/verifier/decide/explain.h"

#include <stdlib.h>
#include <string.h>

static const double most_seconds = 60; // of asking, for one kernel and launch
enum { MOST_CANDIDATES = 40 };

// The facts that a proof may need.
typedef enum Kind { ALLOCATION, LOCKS, ZERO, VARIABLES, ARGUMENT, FACT, BLOCK, GRID, BARRIERS } Kind;
typedef struct Item {
    Kind kind;
    size_t index; // of the launch's argument or fact
    bool lost;
} Item;
typedef VEC(Item) Items;

// One pair of lines.
struct GrReason {
    const GrKernelAccess *sides[2];
    bool proved, in_part;
    size_t pairs;
    VEC(char *) facts; // each once; of an open pair at most one
};

void gr_explained_free(GrExplained *e) {
    for (size_t k = 0; k < e->reasons.len; k++) {
        struct GrReason *r = e->reasons.data[k];
        for (size_t i = 0; i < r->facts.len; i++)
            free(r->facts.data[i]);
        gr_vec_free(&r->facts);
        free(r);
    }
    gr_vec_free(&e->reasons);
}

// ---- What there is --------------------------------------------------------------------------------------------------

static bool any_dimension(const GrTerm *const of[3]) { return of[0] || of[1] || of[2]; }

// Lists them in the order in which they are taken away: what people write down last goes last.
static bool list_items(const GrBound *b, Items *out) {
    const GrHostLaunch *l = b->launch;
    bool ok = true;
    for (size_t k = 0; l && ok && k < l->arguments.len; k++)
        if (l->arguments.data[k].allocation || l->arguments.data[k].n_choices)
            ok = gr_vec_push(out, ((Item){ALLOCATION, k, false}));
    ok = ok && gr_vec_push(out, ((Item){LOCKS, 0, false}));
    for (size_t k = 0; l && ok && k < l->arguments.len; k++)
        if (l->arguments.data[k].zero)
            ok = gr_vec_push(out, ((Item){ZERO, k, false}));
    if (ok && l && l->variables_begin)
        ok = gr_vec_push(out, ((Item){VARIABLES, 0, false}));
    for (size_t k = 0; l && ok && k < l->arguments.len; k++)
        if (l->arguments.data[k].value)
            ok = gr_vec_push(out, ((Item){ARGUMENT, k, false}));
    for (size_t k = 0; l && ok && k < l->facts.len; k++)
        if (b->set->facts[l->facts.data[k].class])
            ok = gr_vec_push(out, ((Item){FACT, k, false}));
    if (ok && l && b->set->facts[GR_FACT_DIMENSIONS] && any_dimension(l->block))
        ok = gr_vec_push(out, ((Item){BLOCK, 0, false}));
    if (ok && l && b->set->facts[GR_FACT_DIMENSIONS] && any_dimension(l->grid))
        ok = gr_vec_push(out, ((Item){GRID, 0, false}));
    return ok && (!b->barriers.len || gr_vec_push(out, ((Item){BARRIERS, 0, false})));
}

// ---- Asking without some --------------------------------------------------------------------------------------------

// Copies the launch without what is lost. `arguments` and `facts` are the copy's own.
static bool copy_launch(const GrHostLaunch *l, const Items *items, GrHostLaunch *out) {
    *out = *l;
    memset(&out->arguments, 0, sizeof out->arguments);
    memset(&out->facts, 0, sizeof out->facts);
    bool ok = true;
    for (size_t k = 0; ok && k < l->arguments.len; k++)
        ok = gr_vec_push(&out->arguments, l->arguments.data[k]);
    for (size_t k = 0; ok && k < items->len; k++) {
        const Item *i = &items->data[k];
        if (i->kind == FACT && !i->lost)
            ok = gr_vec_push(&out->facts, l->facts.data[i->index]);
        if (!i->lost)
            continue;
        if (i->kind == BLOCK)
            memset(out->block, 0, sizeof out->block);
        else if (i->kind == GRID)
            memset(out->grid, 0, sizeof out->grid);
        else if (i->kind == VARIABLES)
            out->variables_begin = false;
        else if (i->kind == ZERO)
            out->arguments.data[i->index].zero = false;
        else if (i->kind == ARGUMENT)
            out->arguments.data[i->index].value = NULL;
        else if (i->kind == ALLOCATION) {
            GrArgument *a = &out->arguments.data[i->index];
            a->allocation = NULL;
            a->at = NULL;
            a->choices = NULL;
            a->n_choices = 0;
        }
    }
    return ok;
}

static bool is_lost(const Items *items, Kind kind) {
    for (size_t k = 0; k < items->len; k++)
        if (items->data[k].kind == kind)
            return items->data[k].lost;
    return false;
}

static gr_status ignore(void *user, GrVerdict *v, bool *settled, gr_error *err) {
    (void)user, (void)v, (void)err;
    *settled = true; // one open level is enough
    return GR_OK;
}

static gr_status decide(GrExplained *e, GrBound *b, size_t i, size_t j, bool *proved, gr_error *err) {
    double had = most_seconds - e->seconds;
    b->seconds_left = had;
    gr_status st = gr_pair_decide(b, i, j, &(GrPairUser){NULL, ignore}, proved, err);
    e->seconds += had - b->seconds_left;
    return st;
}

static gr_status is_proved(GrExplained *e, const GrBound *b, const Items *items, size_t i, size_t j,
                           bool *proved, gr_error *err) {
    gr_status st = GR_OK;
    GrBound less = {0};
    GrHostLaunch launch = {0};
    if (b->launch && !copy_launch(b->launch, items, &launch))
        GR_TRY(gr_no_memory(err));
    GR_TRY(gr_bound_init(&less, b->t, b->model, b->launch ? &launch : NULL, b->set, b->solver, err));
    less.no_barriers = is_lost(items, BARRIERS);
    less.no_locks = is_lost(items, LOCKS);
    GR_TRY(decide(e, &less, i, j, proved, err));
done:
    gr_bound_free(&less);
    gr_vec_free(&launch.arguments);
    gr_vec_free(&launch.facts);
    return st;
}

// ---- Names ----------------------------------------------------------------------------------------------------------

static void add_place(StrBuf *out, const char *file, uint32_t line) {
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (file)
        gr_str_addf(out, " at %s:%u", slash ? slash + 1 : file, line);
}

static void add_dimensions(StrBuf *out, const char *what, const GrTerm *const of[3], const GrHostLaunch *l) {
    gr_str_addf(out, "%s (", what);
    for (unsigned d = 0; d < 3; d++) {
        gr_str_add(out, d ? ", " : "");
        if (of[d])
            gr_term_print(of[d], out);
        else
            gr_str_addc(out, '?');
    }
    gr_str_addc(out, ')');
    add_place(out, l->file, l->line);
}

static void add_barriers(StrBuf *out, const GrBound *b) {
    unsigned n = 0;
    gr_str_add(out, "barriers");
    for (size_t k = 0; k < b->barriers.len; k++) {
        const GrPlace *p = b->barriers.data[k].b->place,
                      *before = k ? b->barriers.data[k - 1].b->place : NULL;
        if (!p || !p->file || (before && before->file == p->file && before->line == p->line))
            continue;
        gr_str_add(out, n++ ? "," : "");
        add_place(out, p->file, p->line);
    }
}

static void add_item(StrBuf *out, const GrBound *b, const Item *i) {
    const GrHostLaunch *l = b->launch;
    switch (i->kind) {
    case BARRIERS: add_barriers(out, b); return;
    case LOCKS: gr_str_add(out, "the lock or flag around the accesses"); return;
    case VARIABLES:
        gr_str_add(
            out, "the values that variables of the module begin with: nothing writes them before the launch");
        add_place(out, l->file, l->line);
        return;
    case ZERO:
        gr_str_addf(out, "parameter %u points to memory that is 0, set",
                    l->arguments.data[i->index].param + 1);
        add_place(out, l->arguments.data[i->index].zero_file, l->arguments.data[i->index].zero_line);
        return;
    case GRID: add_dimensions(out, "the grid", l->grid, l); return;
    case BLOCK: add_dimensions(out, "the block", l->block, l); return;
    case FACT:
        gr_str_add(out, l->facts.data[i->index].text);
        add_place(out, l->facts.data[i->index].file, l->facts.data[i->index].line);
        return;
    case ARGUMENT:
        gr_str_addf(out, "parameter %u is ", l->arguments.data[i->index].param + 1);
        gr_term_print(l->arguments.data[i->index].value, out);
        add_place(out, l->file, l->line);
        return;
    case ALLOCATION: {
        const GrAllocation *a = l->arguments.data[i->index].allocation;
        gr_str_addf(out, "where parameter %u points to", l->arguments.data[i->index].param + 1);
        if (a)
            add_place(out, a->file, a->line);
    }
    }
}

// ---- Pairs of lines -------------------------------------------------------------------------------------------------

static bool same_place(const GrKernelAccess *x, const GrKernelAccess *y) {
    bool named = x->place && x->place->file && y->place && y->place->file;
    return x->writes == y->writes && x->atomic == y->atomic &&
           (named ? x->place->line == y->place->line && !strcmp(x->place->file, y->place->file)
                  : x->stmt == y->stmt);
}

// NULL: memory is out.
static struct GrReason *reason_of(GrExplained *e, const GrBoundAccess *x, const GrBoundAccess *y,
                                  bool proved) {
    for (size_t k = 0; k < e->reasons.len; k++) {
        struct GrReason *r = e->reasons.data[k];
        if (r->proved == proved && same_place(r->sides[0], x->a) && same_place(r->sides[1], y->a))
            return r;
    }
    struct GrReason *r = calloc(1, sizeof *r);
    if (!r || !gr_vec_push(&e->reasons, r)) {
        free(r);
        return NULL;
    }
    r->sides[0] = x->a;
    r->sides[1] = y->a;
    r->proved = proved;
    return r;
}

// Takes the text. False: memory is out.
static bool add_fact(struct GrReason *r, StrBuf *text) {
    char *fact = text->oom ? NULL : gr_str_take(text);
    bool there = false;
    for (size_t k = 0; fact && k < r->facts.len; k++)
        there |= !strcmp(r->facts.data[k], fact);
    bool ok = fact && (there || gr_vec_push(&r->facts, fact));
    if (there || !ok)
        free(fact);
    gr_str_free(text);
    return ok;
}

// ---- Proved, and open -----------------------------------------------------------------------------------------------

static gr_status explain_proof(GrExplained *e, GrBound *b, size_t i, size_t j, struct GrReason *r,
                               gr_error *err) {
    gr_status st = GR_OK;
    Items items = {0};
    bool proved;
    GR_TRY(list_items(b, &items) ? GR_OK : gr_no_memory(err));
    for (size_t k = 0; k < items.len; k++)
        items.data[k].lost = true;
    GR_TRY(is_proved(e, b, &items, i, j, &proved, err));
    for (size_t k = 0; k < items.len && !proved; k++)
        items.data[k].lost = false;
    for (size_t k = 0; k < items.len && !proved; k++) {
        bool still;
        if (e->seconds >= most_seconds) {
            r->in_part = true;
            break;
        }
        items.data[k].lost = true;
        GR_TRY(is_proved(e, b, &items, i, j, &still, err));
        items.data[k].lost = still;
    }
    for (size_t k = 0; k < items.len; k++) {
        StrBuf text = {0};
        if (items.data[k].lost)
            continue;
        add_item(&text, b, &items.data[k]);
        GR_TRY(add_fact(r, &text) ? GR_OK : gr_no_memory(err));
    }
done:
    gr_vec_free(&items);
    return st;
}

// With the candidate some thread can still make each of the two accesses: a fact that excludes them proves too easily.
static gr_status leaves_both(GrBound *more, size_t i, size_t j, bool *yes, gr_error *err) {
    const size_t sides[] = {i, j};
    gr_status st = GR_OK;
    *yes = true;
    for (unsigned k = 0; k < 2 && *yes && st == GR_OK; k++) {
        GrTermVec terms = {0};
        GrSolved s = {0};
        bool ok = true;
        for (size_t f = 0; ok && f < more->same.len; f++)
            ok = gr_vec_push(&terms, more->same.data[f]);
        for (size_t f = 0; ok && f < more->each.len; f++)
            ok = gr_vec_push(&terms, gr_term_of_thread(more->t, more->each.data[f], 1, false));
        ok = ok &&
             gr_vec_push(&terms, gr_term_of_thread(more->t, more->accesses.data[sides[k]].guard, 1, false));
        st = ok ? gr_pair_solve(more, &terms, NULL, false, &s, err) : gr_no_memory(err);
        *yes = s.answer == GR_ANSWER_YES;
        gr_solved_free(&s);
        gr_vec_free(&terms);
    }
    return st;
}

static gr_status try_candidate(GrExplained *e, const GrBound *b, size_t i, size_t j, const GrCandidate *c,
                               bool *proves, gr_error *err) {
    gr_status st;
    GrBound more = {0};
    *proves = false;
    GR_TRY(gr_bound_init(&more, b->t, b->model, b->launch, b->set, b->solver, err));
    for (unsigned k = 0; k < 2; k++)
        if (c->terms[k] && !gr_vec_push(&more.same, c->terms[k]))
            GR_TRY(gr_no_memory(err));
    GR_TRY(decide(e, &more, i, j, proves, err));
    if (*proves) {
        more.seconds_left = 2 * b->set->solver_seconds;
        GR_TRY(leaves_both(&more, i, j, proves, err));
    }
done:
    gr_bound_free(&more);
    return st;
}

static gr_status explain_open(GrExplained *e, GrBound *b, size_t i, size_t j, struct GrReason *r,
                              gr_error *err) {
    gr_status st;
    GrCandidates all = {0};
    bool proves = false;
    GR_TRY(gr_candidates(b, &b->accesses.data[i], &b->accesses.data[j], MOST_CANDIDATES, &all, err));
    for (size_t k = 0; k < all.len && !proves && e->seconds < most_seconds; k++) {
        GR_TRY(try_candidate(e, b, i, j, &all.data[k], &proves, err));
        if (proves && !add_fact(r, &all.data[k].text))
            st = gr_no_memory(err);
    }
done:
    gr_candidates_free(&all);
    return st;
}

gr_status gr_explain(GrExplained *e, GrBound *b, size_t i, size_t j, bool proved, gr_error *err) {
    struct GrReason *r = reason_of(e, &b->accesses.data[i], &b->accesses.data[j], proved);
    GR_NEED(r, err);
    r->pairs++;
    if (e->seconds >= most_seconds) {
        r->in_part = true;
        return GR_OK;
    }
    return proved ? explain_proof(e, b, i, j, r, err) : explain_open(e, b, i, j, r, err);
}

// ---- Telling --------------------------------------------------------------------------------------------------------

gr_status gr_explain_end(const GrExplained *e, const GrTold *t) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < e->reasons.len && st == GR_OK; k++) {
        const struct GrReason *r = e->reasons.data[k];
        StrBuf text = {0};
        if (!r->proved && !r->facts.len)
            continue;
        gr_tell_subject(t, &text);
        gr_str_add(&text, ": ");
        gr_tell_place(t, r->sides[0], &text);
        gr_str_add(&text, " and ");
        gr_tell_place(t, r->sides[1], &text);
        gr_str_add(&text, r->proved ? " cannot race, by " : " would be proved not to race if ");
        if (!r->facts.len)
            gr_str_add(&text, "what the kernel computes alone");
        for (size_t i = 0; i < r->facts.len; i++)
            gr_str_addf(&text, "%s%s", i == 0 ? "" : r->proved ? "; " : ", and if ", r->facts.data[i]);
        if (r->in_part)
            gr_str_add(&text, r->proved
                                  ? " (not all of it may be needed: the time for explanations is over)"
                                  : " (not all pairs of these lines were asked about: the time is over)");
        st = text.oom ? GR_ERR_NOMEM : t->to->remark(t->to->user, text.data);
        gr_str_free(&text);
    }
    return st;
}
