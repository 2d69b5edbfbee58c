// SPDX-License-Identifier: Apache-2.0
// alias — which memory an access touches under a launch, and whether two memories can be one.
#include "base/demangle.h"
#include "engines/verifier/decide/pair.h"

#include <stdlib.h>
#include <string.h>

// ---- Which memory ---------------------------------------------------------------------------------------------------

// Takes the first choice that holds; the last one needs nothing.
static void take_choices(GrBound *b, const GrArgument *a, GrMemory *m) {
    const GrTerm *which = NULL, *at = NULL;
    for (size_t k = a->n_choices; k-- > 0;) {
        const GrChoice *c = &a->choices[k];
        const GrTerm *id = gr_term_const(b->t, 32, c->allocation->id);
        which = which ? gr_term_ite(b->t, c->when, id, which) : id;
        at = at ? gr_term_ite(b->t, c->when, c->at, at) : c->at;
    }
    if (which && at)
        *m = (GrMemory){.object = m->object, .one_of = a, .which = which, .at = at};
}

// Whether a variable of the module is initialized with 0.
static bool begins_with_zero(const PtxVar *v) {
    bool zero = !v->is_extern && !v->is_managed && (v->init || !v->init_text);
    for (uint32_t k = 0; k < v->n_init; k++)
        zero &= !v->init[k].symbol && !v->init[k].bits;
    return zero;
}

GrMemory gr_bound_memory(GrBound *b, const GrObject *o) {
    GrMemory m = {.object = o};
    if (o->kind == GR_OBJECT_GLOBAL)
        m.zero = b->launch && b->launch->variables_begin && begins_with_zero(o->var);
    for (size_t k = 0; o->kind == GR_OBJECT_PARAM && b->launch && k < b->launch->arguments.len; k++) {
        const GrArgument *a = &b->launch->arguments.data[k];
        if (a->param != o->param || a->offset != o->offset || (a->value && !b->launch->recorded))
            continue;
        m.zero = a->zero;
        if (a->allocation) {
            m.allocation = a->allocation;
            m.at = a->at;
            m.which = a->allocation->distinct && a->at ? gr_term_const(b->t, 32, a->allocation->id) : NULL;
        } else if (a->n_choices) {
            take_choices(b, a, &m);
        }
    }
    return m;
}

const GrAllocation *gr_bound_allocation(const GrMemory *m, const GrValues *v) {
    for (size_t k = 0; m->one_of && k < m->one_of->n_choices; k++) {
        const GrChoice *c = &m->one_of->choices[k];
        uint64_t yes = k + 1 == m->one_of->n_choices;
        if (yes || (gr_term_value(c->when, v, &yes) && yes))
            return c->allocation;
    }
    return m->allocation;
}

// ---- Two memories ---------------------------------------------------------------------------------------------------

static bool is_shared(const GrObject *o) { return o->kind == GR_OBJECT_SHARED; }

// Dynamic shared memory is one, whatever it is called.
static bool is_dynamic(const GrObject *o) { return is_shared(o) && (o->size == 0 || o->var->is_extern); }

// The first `n` bytes of `name` are a function's name. The function itself may be gone from the module; then its
// demangled name has parameters, which no variable's has.
static bool names_function(const GrBound *b, const char *name, size_t n) {
    Arena scratch = {0};
    char *function = strndup(name, n);
    bool is = function && (gr_ptx_find_func(b->model->func->module, function) ||
                           strchr(gr_demangle(function, &scratch), '('));
    gr_arena_free(&scratch);
    free(function);
    return is;
}

// nvcc -O0 makes a variable FUNCTION$NUMBER of a byte for an object of an empty class that has no value. The host knows
// nothing of it, so none of its pointers can point to it.
static bool is_placeholder(const GrBound *b, const GrObject *o) {
    const PtxVar *v = o->kind == GR_OBJECT_GLOBAL ? o->var : NULL;
    const char *dollar = v ? strrchr(v->name, '$') : NULL;
    if (!dollar || v->size != 1 || v->init || v->is_visible || v->is_weak || v->is_extern || v->is_managed ||
        !dollar[1] || dollar[1 + strspn(dollar + 1, "0123456789")])
        return false;
    return names_function(b, v->name, (size_t)(dollar - v->name));
}

// UNKNOWN memory has addresses for offsets.
static bool is_unknown(const GrObject *o) { return o->kind == GR_OBJECT_UNKNOWN; }

static size_t allocations_of(const GrMemory *m) {
    return m->one_of ? m->one_of->n_choices : m->allocation && m->allocation->distinct;
}

static const GrAllocation *allocation_of(const GrMemory *m, size_t k) {
    return m->one_of ? m->one_of->choices[k].allocation : m->allocation;
}

static bool is_own(const GrMemory *m) { return m->object->kind == GR_OBJECT_GLOBAL || allocations_of(m); }

// Whether some launch has both pointers in one allocation.
static bool can_meet(GrBound *b, const GrMemory *x, const GrMemory *y) {
    for (size_t k = 0; k < b->meetings.len; k++) {
        const GrMeeting *m = &b->meetings.data[k];
        if ((m->x == x->object && m->y == y->object) || (m->x == y->object && m->y == x->object))
            return m->can;
    }
    GrTermVec terms = {0};
    GrSolved s = {0};
    const GrTerm *same = gr_term_2(b->t, GR_TERM_EQ, x->which, y->which);
    bool ok = same && gr_vec_push(&terms, same);
    for (size_t k = 0; ok && k < b->same.len; k++)
        ok = gr_vec_push(&terms, b->same.data[k]);
    gr_error err;
    bool can = !ok || gr_pair_solve(b, &terms, NULL, true, &s, &err) != GR_OK || s.answer != GR_ANSWER_NO;
    gr_solved_free(&s);
    gr_vec_free(&terms);
    const GrMeeting met = {x->object, y->object, can};
    (void)gr_vec_push(&b->meetings, met); // else it is asked again
    return can;
}

// The name of a variable that is reached by its name and by a pointer, or of one of two variables.
static const char *variable_of(const GrMemory *m) {
    return m->object->kind == GR_OBJECT_GLOBAL ? m->object->var->name
           : m->allocation                     ? m->allocation->variable
                                               : NULL;
}

static GrAlias of_variables(const GrBound *b, const GrMemory *x, const GrMemory *y) {
    const char *a = variable_of(x), *c = variable_of(y);
    if (x->object->kind == GR_OBJECT_GLOBAL && y->object->kind == GR_OBJECT_GLOBAL)
        return GR_ALIAS_APART; // two variables; those of two files may have one name
    if (!a || !c || strcmp(a, c) != 0)
        return GR_ALIAS_APART;
    return gr_linked_is_shared_name(b->model->linked, a) ? GR_ALIAS_MAYBE : GR_ALIAS_SAME;
}

static GrAlias of_allocations(GrBound *b, const GrMemory *x, const GrMemory *y) {
    bool common = false, several = false;
    for (size_t k = 0; k < allocations_of(x); k++)
        for (size_t j = 0; j < allocations_of(y); j++) {
            const GrAllocation *a = allocation_of(x, k);
            common |= a == allocation_of(y, j);
            several |= a == allocation_of(y, j) && a->several;
        }
    if (!common)
        return of_variables(b, x, y);
    if (several || !x->which || !y->which)
        return GR_ALIAS_MAYBE;
    if (x->which == y->which && x->which->op == GR_TERM_CONST)
        return GR_ALIAS_SAME;
    return can_meet(b, x, y) ? GR_ALIAS_WHICH : GR_ALIAS_APART;
}

GrAlias gr_bound_alias(GrBound *b, const GrMemory *x, const GrMemory *y, StrBuf *why) {
    const GrObject *o = x->object, *p = y->object;
    if (o == p || (is_unknown(o) && is_unknown(p)))
        return GR_ALIAS_SAME;
    if (is_shared(o) && is_shared(p))
        return is_dynamic(o) && is_dynamic(p) ? GR_ALIAS_SAME : GR_ALIAS_APART;
    if ((o->kind == GR_OBJECT_PARAM && is_placeholder(b, p)) ||
        (p->kind == GR_OBJECT_PARAM && is_placeholder(b, o)))
        return GR_ALIAS_APART;
    bool unknown = is_unknown(o) || is_unknown(p), escapes = b->model->shared_escapes;
    if (is_shared(o) != is_shared(p) && (!unknown || !escapes))
        return GR_ALIAS_APART;
    GrAlias alias = GR_ALIAS_MAYBE;
    if (!unknown) {
        if (is_own(x) && is_own(y)) // a variable of the module has no allocation
            alias = of_allocations(b, x, y);
        else if (x->allocation && x->allocation == y->allocation && x->at && y->at)
            alias = GR_ALIAS_SAME;
    }
    if (alias == GR_ALIAS_MAYBE)
        gr_str_addf(why, "%s and %s may be the same memory", o->name, p->name);
    return alias;
}
