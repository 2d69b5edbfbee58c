// SPDX-License-Identifier: Apache-2.0
// changing — which memory a kernel reads from and may write to by another name, under one launch.
#include "engines/verifier/decide/changing.h"

typedef struct Search {
    GrBound *b;
    Arena *arena;
    GrObjects *out;
    Map seen; // objects by id + 1
    bool nomem;
} Search;

static const GrObject *object_of(const GrKernelModel *m, const GrSymbol *s) {
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
    const GrObject *o = s->kind == GR_SYM_OBJECT ? object_of(f->b->model, s->of ? s->of : s) : NULL;
    if (!o) // a variable of a loop, by rounds, is no memory
        return;
    if (gr_map_get_u64(&f->seen, o->id + 1))
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
    if (a && !gr_term_symbols(a, see, f))
        f->nomem = true;
}

gr_status gr_changing(GrBound *b, Arena *arena, GrObjects *out, gr_error *err) {
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
    return f.nomem ? gr_fail(err, GR_ERR_NOMEM, "out of memory") : GR_OK;
}
