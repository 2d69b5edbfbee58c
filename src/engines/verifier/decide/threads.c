// SPDX-License-Identifier: Apache-2.0
// threads — what holds of two threads of a level, and what the solver makes of their terms.
#include "engines/verifier/decide/pair.h"

#include <stdlib.h>

const GrTerm *gr_pair_term(GrBound *b, const GrTerm *a, uint32_t thread, bool own) {
    return a ? gr_term_of_thread(b->t, a, thread, own) : NULL;
}

static const GrTerm *differ(GrBound *b, const GrTerm *const of[3], bool own) {
    const GrTerm *any = gr_term_false(b->t);
    for (unsigned d = 0; d < 3; d++)
        if (of[d]->op != GR_TERM_CONST)
            any = gr_or(b->t, any,
                        gr_not(b->t, gr_term_2(b->t, GR_TERM_EQ, gr_pair_term(b, of[d], 1, own),
                                               gr_pair_term(b, of[d], 2, own))));
    return any;
}

static const GrTerm *same_warp(GrBound *b) {
    const GrTerm *lanes = gr_term_const(b->t, 32, 32);
    return gr_term_2(b->t, GR_TERM_EQ,
                     gr_term_2(b->t, GR_TERM_UDIV, gr_pair_term(b, b->linear, 1, false), lanes),
                     gr_term_2(b->t, GR_TERM_UDIV, gr_pair_term(b, b->linear, 2, false), lanes));
}

bool gr_pair_is_one_warp(const GrBound *b) {
    uint64_t all = 1;
    for (unsigned d = 0; d < 3; d++) {
        if (b->block[d]->op != GR_TERM_CONST)
            return false;
        all *= b->block[d]->value;
    }
    return all <= 32;
}

static const GrTerm *threads_of(GrBound *b, GrLevel level) {
    switch (level) {
    case GR_LEVEL_BLOCKS: return differ(b, b->place, true);
    case GR_LEVEL_ANY_WARP: return differ(b, b->thread, false);
    case GR_LEVEL_WARPS: return gr_pair_is_one_warp(b) ? gr_term_false(b->t) : gr_not(b->t, same_warp(b));
    case GR_LEVEL_WARP:
        return gr_pair_is_one_warp(b) ? differ(b, b->thread, false)
                                      : gr_and(b->t, differ(b, b->thread, false), same_warp(b));
    case GR_LEVEL_ALONE: return gr_not(b->t, differ(b, b->thread, false));
    }
    return NULL;
}

gr_status gr_pair_facts(GrBound *b, GrLevel level, GrTermVec *out, gr_error *err) {
    bool own = level == GR_LEVEL_BLOCKS, ok = true;
    for (size_t k = 0; ok && k < b->same.len; k++)
        ok = gr_vec_push(out, b->same.data[k]);
    for (uint32_t thread = 1; thread <= 2; thread++)
        for (size_t k = 0; ok && k < b->each.len; k++) {
            const GrTerm *f = gr_pair_term(b, b->each.data[k], thread, own);
            ok = f && gr_vec_push(out, f);
        }
    const GrTerm *two = threads_of(b, level);
    ok = ok && two && gr_vec_push(out, two);
    return ok ? GR_OK : gr_no_memory(err);
}

// Adds an operation, unless one of its line is there.
static bool note_trusted(GrBound *b, const GrTerm *a) {
    for (size_t k = 0; k < b->trusted->len; k++) {
        const GrTerm *there = b->trusted->data[k];
        if (there->from.file == a->from.file && there->from.line == a->from.line)
            return true;
    }
    return gr_vec_push(b->trusted, a);
}

gr_status gr_pair_solve(GrBound *b, const GrTermVec *terms, const GrOverlap *o, bool any_model, GrSolved *out,
                        gr_error *err) {
    *out = (GrSolved){.answer = GR_ANSWER_UNKNOWN, .how = "the kernel's time is over"};
    for (size_t k = 0; k < terms->len; k++)
        if (gr_term_is_const(terms->data[k], 0)) {
            out->answer = GR_ANSWER_NO;
            return GR_OK;
        }
    if (b->seconds_left <= 0)
        return GR_OK;
    double most = b->set->solver_seconds < b->seconds_left ? b->set->solver_seconds : b->seconds_left;
    const GrTerm *sizes[] = {b->grid[0], b->grid[1], b->grid[2], b->block[0], b->block[1], b->block[2]};
    GrQuery q = {.terms = terms->data,
                 .n_terms = terms->len,
                 .overlap = o,
                 .seconds = most,
                 .wrap = b->wraps || b->set->wrap,
                 .sizes = sizes,
                 .n_sizes = sizeof sizes / sizeof *sizes,
                 .any_model = any_model};
    gr_status st = gr_solve(b->solver, &q, out, err);
    b->seconds_left -= out->seconds;
    if (st == GR_OK && out->answer == GR_ANSWER_NO && out->wraps && b->trusted &&
        !note_trusted(b, out->wraps))
        st = gr_no_memory(err);
    return st;
}

gr_status gr_pair_never(GrBound *b, GrLevel level, const GrTerm *const *terms, size_t n, const GrOverlap *o,
                        bool *never, gr_error *err) {
    GrTermVec all = {0};
    GrSolved s = {0};
    gr_status st = gr_pair_facts(b, level, &all, err);
    for (size_t k = 0; k < n && st == GR_OK; k++)
        if (!terms[k] || !gr_vec_push(&all, terms[k]))
            st = gr_no_memory(err);
    if (st == GR_OK)
        st = gr_pair_solve(b, &all, o, true, &s, err);
    *never = st == GR_OK && s.answer == GR_ANSWER_NO;
    gr_solved_free(&s);
    gr_vec_free(&all);
    return st;
}

bool gr_scope_covers(PtxScope s, GrLevel level) {
    return level == GR_LEVEL_BLOCKS ? s == PTX_SCOPE_GPU || s == PTX_SCOPE_SYS : s != PTX_SCOPE_NONE;
}
