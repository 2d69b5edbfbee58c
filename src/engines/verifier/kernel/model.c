// SPDX-License-Identifier: Apache-2.0
// model — the model of a kernel from its walks, and the symbols that all models of a kernel share.
#include "engines/verifier/kernel/exec.h"

#include <stdlib.h>

// ---- Shared symbols ----------------------------------------------------------------------------------------------

const GrSymbol *gr_kernel_param(GrTerms *t, const PtxFunc *f, uint32_t param, uint32_t offset,
                                uint32_t bits) {
    for (uint32_t k = 0; k < t->n_symbols; k++) {
        const GrSymbol *s = t->symbols[k];
        if (s->kind == GR_SYM_PARAM && s->owner == f && s->param == param && s->offset == offset &&
            s->bits == bits && !s->of)
            return s;
    }
    char name[64];
    bool whole = param < f->n_params && !offset && f->params[param]->size * 8 == bits;
    if (whole)
        snprintf(name, sizeof name, "param%u", param + 1);
    else
        snprintf(name, sizeof name, "param%u+%u", param + 1, offset);
    GrSymbol *s = gr_symbol(t, GR_SYM_PARAM, GR_SYM_LAUNCH, bits, name);
    if (s) {
        s->owner = f;
        s->param = param;
        s->offset = offset;
    }
    return s;
}

typedef struct Range {
    const char *name;
    int64_t low, high;
    GrSymScope scope;
} Range;

static const Range ranges[] = {
    {"%tid.x", 0, 1023, GR_SYM_THREAD},
    {"%tid.y", 0, 1023, GR_SYM_THREAD},
    {"%tid.z", 0, 63, GR_SYM_THREAD},
    {"%ntid.x", 1, 1024, GR_SYM_LAUNCH},
    {"%ntid.y", 1, 1024, GR_SYM_LAUNCH},
    {"%ntid.z", 1, 64, GR_SYM_LAUNCH},
    {"%ctaid.x", 0, INT32_MAX - 1, GR_SYM_BLOCK},
    {"%ctaid.y", 0, 65534, GR_SYM_BLOCK},
    {"%ctaid.z", 0, 65534, GR_SYM_BLOCK},
    {"%nctaid.x", 1, INT32_MAX, GR_SYM_LAUNCH},
    {"%nctaid.y", 1, 65535, GR_SYM_LAUNCH},
    {"%nctaid.z", 1, 65535, GR_SYM_LAUNCH},
};

const GrSymbol *gr_kernel_special(GrTerms *t, const char *name) {
    for (uint32_t k = 0; k < t->n_symbols; k++)
        if (t->symbols[k]->kind == GR_SYM_SPECIAL && !t->symbols[k]->of && !strcmp(t->symbols[k]->name, name))
            return t->symbols[k];
    GrSymbol *s = gr_symbol(t, GR_SYM_SPECIAL, GR_SYM_LAUNCH, 32, name);
    for (size_t k = 0; s && k < sizeof ranges / sizeof *ranges; k++)
        if (!strcmp(name, ranges[k].name)) {
            s->scope = ranges[k].scope;
            s->low = ranges[k].low;
            s->high = ranges[k].high;
        }
    return s;
}

// ---- Facts ----------------------------------------------------------------------------------------------------------

static bool less(KWalk *w, const char *a, const char *b) {
    const GrSymbol *x = gr_kernel_special(w->t, a), *y = gr_kernel_special(w->t, b);
    if (!x || !y)
        return false;
    const GrTerm *f = gr_term_2(w->t, GR_TERM_ULT, gr_term_sym(w->t, x), gr_term_sym(w->t, y));
    return f && gr_vec_push(&w->out->facts, f);
}

static bool know(KWalk *w) {
    for (int d = 'x'; d <= 'z'; d++) {
        char a[16], b[16];
        snprintf(a, sizeof a, "%%tid.%c", d);
        snprintf(b, sizeof b, "%%ntid.%c", d);
        if (!less(w, a, b))
            return false;
        snprintf(a, sizeof a, "%%ctaid.%c", d);
        snprintf(b, sizeof b, "%%nctaid.%c", d);
        if (!less(w, a, b))
            return false;
    }
    const PtxFunc *f = w->f->frames.data[0]->func; // .reqntid and .maxntid
    static const char *const names[] = {"%ntid.x", "%ntid.y", "%ntid.z"};
    for (unsigned k = 0; k < 3; k++) {
        const GrTerm *n = gr_term_sym(w->t, gr_kernel_special(w->t, names[k]));
        if (f->reqntid[k] && !gr_vec_push(&w->out->facts, gr_term_2(w->t, GR_TERM_EQ, n,
                                                                    gr_term_const(w->t, 32, f->reqntid[k]))))
            return false;
    }
    return true;
}

// ---- Conditions of loops that are over ---------------------------------------------------------------------------

typedef struct Over {
    KWalk *w;
    uint32_t block;
    bool *done; // by loop
    const GrTerm *add;
    bool changed;
} Over;

static void see_counter(void *user, const GrSymbol *s) {
    Over *o = user;
    if (s->kind != GR_SYM_COUNTER)
        return;
    for (size_t k = 0; k < o->w->f->loops.len; k++) {
        const KLoop *l = o->w->f->loops.data[k];
        if (l->loop != s->owner || o->done[k] || gr_flat_in_loop(o->w->f, l, o->block))
            continue;
        o->done[k] = true;
        o->changed = true;
        o->add = gr_bool_and(o->w->t, o->add, gr_walk_left(o->w, l));
    }
}

// A counter of a loop that the access is not in counts rounds until the loop was left: the guard says what holds then.
static bool leave_loops(KWalk *w, GrKernelAccess *a) {
    Over o = {.w = w, .block = ((const KStmt *)a->flat)->block, .done = calloc(w->f->loops.len + 1, 1)};
    bool ok = o.done != NULL;
    do {
        o.changed = false;
        o.add = a->guard;
        ok = ok && gr_term_symbols(a->offset, see_counter, &o) &&
             gr_term_symbols(a->guard, see_counter, &o) && o.add;
        a->guard = ok ? o.add : a->guard;
    } while (ok && o.changed);
    free(o.done);
    return ok;
}

// ---- All ------------------------------------------------------------------------------------------------------------

static gr_status finish(KWalk *w, gr_error *err) {
    for (size_t k = 0; k < w->out->objects.len; k++) {
        GrObject *o = w->out->objects.data[k];
        o->written =
            (k < w->written.len && w->written.data[k]) || (w->unknown_written && o->kind != GR_OBJECT_SHARED);
    }
    w->out->shared_escapes = w->shared_escaped;
    w->out->walks = w->walk;
    gr_mbarriers_end(w);
    gr_phi_facts(w);
    bool ok = know(w) && !w->nomem;
    for (size_t k = 0; ok && k < w->out->accesses.len; k++)
        ok = leave_loops(w, w->out->accesses.data[k]);
    return ok && gr_kernel_order(w) == GR_OK ? GR_OK : gr_no_memory(err);
}

gr_status gr_kernel_model(GrTerms *t, const GrLinked *l, const PtxFunc *f, uint32_t most_accesses,
                          GrKernelModel *out, gr_error *err) {
    return gr_kernel_model_changing(t, l, f, most_accesses, NULL, 0, out, err);
}

gr_status gr_kernel_model_changing(GrTerms *t, const GrLinked *l, const PtxFunc *f, uint32_t most_accesses,
                                   const GrObject *const *changing, size_t n_changing, GrKernelModel *out,
                                   gr_error *err) {
    *out = (GrKernelModel){.linked = l, .func = f};
    gr_arena_init(&out->arena);
    KFlat *flat = GR_NEW(&out->arena, KFlat);
    GR_NEED(flat, err);
    out->flat = flat;
    flat->arena = &out->arena;
    flat->t = t;
    gr_status st = gr_flat_make(flat, l, f, err);
    if (st != GR_OK)
        return st;
    if ((st = gr_flat_loops(flat, out)) != GR_OK)
        return gr_fail(err, st, "out of memory");
    KWalk w = {.most_accesses = most_accesses ? most_accesses : 20000,
               .changing = changing,
               .n_changing = n_changing};
    st = gr_walk_init(&w, flat, out);
    if (st != GR_OK)
        st = gr_fail(err, st, "out of memory");
    if (st == GR_OK)
        st = gr_walk_all(&w, err);
    if (st == GR_OK)
        st = finish(&w, err);
    if (st == GR_OK && flat->irreducible &&
        !gr_vec_push(&out->gaps, ((GrGap){.why = flat->irreducible, .whole_kernel = true})))
        st = gr_no_memory(err);
    gr_walk_free(&w);
    return st;
}

bool gr_kernel_has_grid_barrier(const GrKernelModel *m) {
    for (size_t k = 0; k < m->barriers.len; k++)
        if (m->barriers.data[k]->kind == GR_BARRIER_GRID)
            return true;
    return false;
}

void gr_kernel_model_free(GrKernelModel *m) {
    for (size_t k = 0; k < m->accesses.len; k++) {
        GrKernelAccess *a = m->accesses.data[k];
        for (unsigned reach = 0; reach < GR_REACHES; reach++)
            gr_vec_free(&a->after[reach]);
        gr_vec_free(&a->before);
        gr_vec_free(&a->behind);
        gr_vec_free(&a->flights);
    }
    if (m->flat)
        gr_flat_free(m->flat);
    gr_vec_free(&m->objects);
    gr_vec_free(&m->accesses);
    gr_vec_free(&m->barriers);
    gr_vec_free(&m->loops);
    gr_vec_free(&m->gaps);
    gr_vec_free(&m->facts);
    gr_vec_free(&m->no_wrap);
    gr_arena_free(&m->arena);
}
