// SPDX-License-Identifier: Apache-2.0
// bound — puts the launch's arguments and dimensions into the model's terms.
#include "engines/verifier/decide/bound.h"

#include <stdlib.h>
#include <string.h>

// ---- What stands for a symbol --------------------------------------------------------------------------------------

static bool is_const(const GrTerm *a) { return a->op == GR_TERM_CONST; }

// The value of a parameter may be used: constants always, others if facts about what parameters share are wanted.
static bool is_wanted(const GrBound *b, const GrArgument *a) {
    return a->value && (b->set->facts[GR_FACT_SHARED] || is_const(a->value));
}

static const GrTerm *argument(GrBound *b, const GrSymbol *s) {
    for (size_t k = 0; b->launch && k < b->launch->arguments.len; k++) {
        const GrArgument *a = &b->launch->arguments.data[k];
        if (a->param != s->param || !is_wanted(b, a) || s->offset < a->offset ||
            s->offset + s->bits / 8 > a->offset + a->bits / 8)
            continue;
        uint32_t shift = (s->offset - a->offset) * 8;
        const GrTerm *v = gr_term_resize(b->t, a->bits, false, a->value);
        if (shift)
            v = gr_term_2(b->t, GR_TERM_LSHR, v, gr_term_const(b->t, a->bits, shift));
        return gr_term_resize(b->t, s->bits, false, v);
    }
    return NULL;
}

static const GrTerm *special(GrBound *b, const char *name) {
    static const char *const axis = "xyz";
    const struct {
        const char *name;
        const GrTerm *const *of;
    } rows[] = {{"%tid.", b->thread}, {"%ctaid.", b->place}, {"%ntid.", b->block}, {"%nctaid.", b->grid}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        size_t n = strlen(rows[k].name);
        const char *d = !strncmp(name, rows[k].name, n) && name[n] ? strchr(axis, name[n]) : NULL;
        if (d)
            return rows[k].of[d - axis];
    }
    if (!strcmp(name, "%laneid"))
        return gr_term_2(b->t, GR_TERM_UREM, b->linear, gr_term_const(b->t, 32, 32));
    return NULL;
}

static const GrTerm *stands_for(void *user, GrTerms *t, const GrSymbol *s) {
    GrBound *b = user;
    (void)t;
    if (s->of)
        return NULL;
    const GrTerm *v = s->kind == GR_SYM_PARAM     ? argument(b, s)
                      : s->kind == GR_SYM_SPECIAL ? special(b, s->name)
                                                  : NULL;
    return v && v->op == GR_TERM_SYM && v->sym == s ? NULL : v;
}

const GrTerm *gr_bound_term(GrBound *b, const GrTerm *a) {
    return a ? gr_term_replace(b->t, a, &(GrReplace){stands_for, NULL, b}) : NULL;
}

// ---- Facts ----------------------------------------------------------------------------------------------------------

static bool add(GrTermVec *to, const GrTerm *fact) {
    if (!fact)
        return false;
    for (size_t k = 0; k < to->len; k++)
        if (to->data[k] == fact)
            return true;
    return gr_term_is_const(fact, 1) || gr_vec_push(to, fact);
}

static const GrTerm *number(GrBound *b, uint64_t v) { return gr_term_const(b->t, 32, v); }
static const GrTerm *at_most(GrBound *b, const GrTerm *a, const GrTerm *c) {
    return gr_term_2(b->t, GR_TERM_SLE, a, c);
}

// Adds that every dimension is one that a device takes: a launch with another one fails, and has no threads.
static bool add_dimensions(GrBound *b) {
    static const uint32_t most_block[3] = {1024, 1024, 64}, most_grid[3] = {INT32_MAX, 65535, 65535};
    bool ok = true;
    for (unsigned d = 0; d < 3; d++)
        ok = ok && add(&b->same, at_most(b, number(b, 1), b->block[d])) &&
             add(&b->same, at_most(b, b->block[d], number(b, most_block[d]))) &&
             add(&b->same, at_most(b, number(b, 1), b->grid[d])) &&
             add(&b->same, at_most(b, b->grid[d], number(b, most_grid[d])));
    const GrTerm *all =
        gr_term_2(b->t, GR_TERM_MUL, b->block[0], gr_term_2(b->t, GR_TERM_MUL, b->block[1], b->block[2]));
    ok = ok && add(&b->same, at_most(b, all, number(b, 1024)));
    const PtxFunc *f = b->model->func;
    uint64_t most = 1;
    for (unsigned d = 0; d < 3; d++) {
        if (f->reqntid[0])
            ok = ok && add(&b->same, gr_term_2(b->t, GR_TERM_EQ, b->block[d],
                                               number(b, f->reqntid[d] ? f->reqntid[d] : 1)));
        most *= f->maxntid[d] ? f->maxntid[d] : 1;
    }
    return ok && (!f->maxntid[0] || add(&b->same, at_most(b, all, number(b, most))));
}

static bool add_threads(GrBound *b) {
    bool ok = true;
    for (unsigned d = 0; d < 3; d++)
        ok = ok && add(&b->each, at_most(b, number(b, 0), b->thread[d])) &&
             add(&b->each, gr_term_2(b->t, GR_TERM_SLT, b->thread[d], b->block[d])) &&
             add(&b->each, at_most(b, number(b, 0), b->place[d])) &&
             add(&b->each, gr_term_2(b->t, GR_TERM_SLT, b->place[d], b->grid[d]));
    for (size_t k = 0; ok && k < b->model->facts.len; k++)
        ok = add(&b->each, gr_bound_term(b, b->model->facts.data[k]));
    return ok;
}

static bool add_host(GrBound *b) {
    bool ok = true;
    for (size_t k = 0; ok && b->launch && k < b->launch->facts.len; k++)
        if (b->set->facts[b->launch->facts.data[k].class])
            ok = add(&b->same, b->launch->facts.data[k].term);
    return ok;
}

// A recorded pointer is known by its place, not by its number. But it is not NULL.
static bool add_pointers(GrBound *b) {
    bool ok = true;
    for (size_t k = 0; ok && b->launch && b->launch->recorded && k < b->launch->arguments.len; k++) {
        const GrArgument *a = &b->launch->arguments.data[k];
        if (a->value || !a->allocation)
            continue;
        const GrSymbol *s = gr_kernel_param(b->t, b->model->func, a->param, a->offset, 64);
        const GrTerm *null =
            s ? gr_term_2(b->t, GR_TERM_EQ, gr_term_sym(b->t, s), gr_term_const(b->t, 64, 0)) : NULL;
        ok = null && add(&b->same, gr_not(b->t, null));
    }
    return ok;
}

// ---- The launch's dimensions ----------------------------------------------------------------------------------------

static const GrTerm *register_of(GrBound *b, const char *name, unsigned d) {
    char text[16];
    snprintf(text, sizeof text, "%s%c", name, "xyz"[d]);
    return gr_term_sym(b->t, gr_kernel_special(b->t, text));
}

static bool take_dimensions(GrBound *b) {
    bool known = b->launch && b->set->facts[GR_FACT_DIMENSIONS], ok = true;
    for (unsigned d = 0; d < 3; d++) {
        b->grid[d] = known && b->launch->grid[d] ? b->launch->grid[d] : register_of(b, "%nctaid.", d);
        b->block[d] = known && b->launch->block[d] ? b->launch->block[d] : register_of(b, "%ntid.", d);
        if (!b->grid[d] || !b->block[d])
            return false;
        b->thread[d] = gr_term_is_const(b->block[d], 1) ? number(b, 0) : register_of(b, "%tid.", d);
        b->place[d] = gr_term_is_const(b->grid[d], 1) ? number(b, 0) : register_of(b, "%ctaid.", d);
        ok = ok && b->thread[d] && b->place[d];
    }
    // x + nx * (y + ny * z)
    const GrTerm *yz =
        gr_term_2(b->t, GR_TERM_ADD, b->thread[1], gr_term_2(b->t, GR_TERM_MUL, b->block[1], b->thread[2]));
    b->linear = gr_term_2(b->t, GR_TERM_ADD, b->thread[0], gr_term_2(b->t, GR_TERM_MUL, b->block[0], yz));
    return ok && b->linear;
}

// ---- Accesses -------------------------------------------------------------------------------------------------------

static bool take_accesses(GrBound *b) {
    for (size_t k = 0; k < b->model->accesses.len; k++) {
        const GrKernelAccess *a = b->model->accesses.data[k];
        GrBoundAccess x = {.a = a, .memory = gr_bound_memory(b, a->object)};
        x.guard = gr_bound_term(b, a->guard);
        x.offset = gr_bound_term(b, a->offset);
        if (x.memory.at)
            x.offset = gr_term_2(b->t, GR_TERM_ADD, x.memory.at, x.offset);
        if (!x.guard || !x.offset || !gr_vec_push(&b->accesses, x))
            return false;
    }
    for (size_t k = 0; k < b->model->barriers.len; k++) {
        const GrBarrier *r = b->model->barriers.data[k];
        GrBoundBarrier x = {.b = r, .guard = r->guard ? gr_bound_term(b, r->guard) : gr_term_true(b->t)};
        if (!x.guard || !gr_vec_push(&b->barriers, x))
            return false;
    }
    return true;
}

gr_status gr_bound_init(GrBound *b, GrTerms *t, const GrKernelModel *m, const GrHostLaunch *l,
                        const GrVerifierSettings *set, GrSolver *solver, gr_error *err) {
    *b = (GrBound){.t = t, .model = m, .launch = l, .set = set, .solver = solver};
    bool ok = take_dimensions(b) && add_dimensions(b) && add_threads(b) && add_host(b) && add_pointers(b) &&
              take_accesses(b);
    return ok ? GR_OK : gr_no_memory(err);
}

void gr_bound_free(GrBound *b) {
    gr_vec_free(&b->same);
    gr_vec_free(&b->each);
    gr_vec_free(&b->accesses);
    gr_vec_free(&b->barriers);
    gr_vec_free(&b->meetings);
    gr_vec_free(&b->waits);
}
