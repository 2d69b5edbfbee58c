// SPDX-License-Identifier: Apache-2.0
// changing — which memory a kernel reads from and may write to by another name, under one launch.
#include "engines/verifier/decide/changing.h"

#include <stdlib.h>

typedef struct Search {
    GrBound *b;
    Arena *arena;
    GrObjects *out;
    Map seen; // objects by id + 1
    bool nomem;
} Search;

const GrObject *gr_object_read(const GrKernelModel *m, const GrSymbol *s) {
    s = s->of ? s->of : s;
    for (size_t k = 0; k < m->objects.len; k++)
        if (m->objects.data[k]->symbol == s)
            return m->objects.data[k];
    return NULL;
}

const GrObject *gr_writer_of(GrBound *b, const GrObject *o) {
    const GrMemory m = gr_bound_memory(b, o);
    const GrObject *by = NULL;
    for (size_t k = 0; k < b->accesses.len && !by; k++) {
        const GrBoundAccess *x = &b->accesses.data[k];
        StrBuf why = {0};
        if (x->a->writes && gr_bound_alias(b, &m, &x->memory, &why) != GR_ALIAS_APART)
            by = x->memory.object;
        gr_str_free(&why);
    }
    return by;
}

static void see(void *user, const GrSymbol *s) {
    Search *f = user;
    const GrObject *o = gr_object_read(f->b->model, s);
    if (!o || (o->var && o->var->space == PTX_CONST) || gr_map_get_u64(&f->seen, o->id + 1))
        return;
    f->nomem |= !gr_map_put_u64(&f->seen, o->id + 1, f);
    if (!gr_writer_of(f->b, o))
        return;
    GrObject *copy = GR_NEW(f->arena, GrObject);
    if (copy)
        *copy = *o;
    f->nomem |= !copy || !gr_vec_push(f->out, copy);
}

static void look(Search *f, const GrTerm *a) {
    if (a && !gr_term_reads(a, see, f))
        f->nomem = true;
}

// Finds the memory that terms of the model read and the kernel may write. Adds copies, which are the arena's, to *out.
static gr_status find_changing(GrBound *b, Arena *arena, GrObjects *out, gr_error *err) {
    Search f = {.b = b, .arena = arena, .out = out};
    for (size_t k = 0; k < b->accesses.len; k++) {
        look(&f, b->accesses.data[k].guard);
        look(&f, b->accesses.data[k].offset);
        look(&f, b->accesses.data[k].a->value);
    }
    for (size_t k = 0; k < b->barriers.len; k++)
        look(&f, b->barriers.data[k].guard);
    for (size_t k = 0; k < b->each.len; k++)
        look(&f, b->each.data[k]);
    for (size_t k = 0; k < b->model->loops.len; k++)
        look(&f, b->model->loops.data[k]->left);
    gr_map_free(&f.seen);
    return f.nomem ? gr_no_memory(err) : GR_OK;
}

// ---- Models ----------------------------------------------------------------------------------------------------

void gr_models_free(GrModels *m) {
    gr_kernel_model_free(&m->other);
    gr_vec_free(&m->changing);
    m->other = (GrKernelModel){0};
    m->asked = 0;
}

static gr_status rebind(GrBound *b, const GrKernelModel *m, gr_error *err) {
    const GrBound before = *b;
    gr_bound_free(b);
    gr_status st = gr_bound_init(b, before.t, m, before.launch, before.set, before.solver, err);
    b->seconds_left = before.seconds_left;
    return st;
}

static bool is_asked(const GrModels *m, const GrObjects *changing) {
    bool same = m->asked == changing->len;
    for (size_t k = 0; same && k < changing->len; k++)
        same = gr_is_same_object(m->changing.data[k], changing->data[k]);
    return same;
}

// Takes the other model if it is of these objects. *yes: it is, and nothing more changes under this launch.
static gr_status take_other(GrModels *m, GrBound *b, const GrObjects *changing, bool *yes, gr_error *err) {
    GrObjects more = {0};
    *yes = is_asked(m, changing);
    if (!*yes)
        return GR_OK;
    gr_status st = rebind(b, &m->other, err);
    if (st == GR_OK)
        st = find_changing(b, m->arena, &more, err);
    *yes = !more.len;
    gr_vec_free(&more);
    return st;
}

// Models the kernel anew until no more memory that it reads may change.
static gr_status make_other(GrModels *m, GrBound *b, gr_error *err) {
    gr_status st = GR_OK;
    for (size_t before = 0; st == GR_OK && before != m->changing.len;) {
        before = m->changing.len;
        gr_kernel_model_free(&m->other);
        st = gr_kernel_model_changing(b->t, m->linked, m->plain->func, 0, m->changing.data, before, &m->other,
                                      err);
        if (st == GR_OK)
            st = rebind(b, &m->other, err);
        if (st == GR_OK)
            st = find_changing(b, m->arena, &m->changing, err);
    }
    if (st != GR_OK) // what there is of it is of no use
        gr_models_free(m);
    return st;
}

gr_status gr_models_bind(GrModels *m, GrBound *b, gr_error *err) {
    GrObjects changing = {0};
    bool has = true;
    gr_status st = find_changing(b, m->arena, &changing, err);
    if (st == GR_OK && changing.len)
        st = take_other(m, b, &changing, &has, err);
    if (st == GR_OK && !has) {
        gr_models_free(m);
        m->changing = changing;
        m->asked = changing.len;
        return make_other(m, b, err);
    }
    gr_vec_free(&changing);
    return st;
}
