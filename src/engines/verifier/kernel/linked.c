// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/kernel/linked.h"

#include "base/demangle.h"

#include <stdlib.h>
#include <string.h>

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "linking device code"); }

static bool is_seen(const PtxVar *v) { return v->is_visible || v->is_weak || v->is_common; }

// ---- Definitions ----------------------------------------------------------------------------------------------------

static GrLinkedName *name_of(GrLinked *l, const char *name) {
    GrLinkedName *n = gr_map_get(&l->by_name, name);
    if (n)
        return n;
    n = GR_NEW(&l->arena, GrLinkedName);
    if (!n || !gr_vec_push(&l->names, n) || !gr_map_put(&l->by_name, name, n))
        return NULL;
    n->name = name;
    return n;
}

// Whether a definition replaces the earlier meaning of the name.
static bool takes(GrLinkedName *n, const PtxModule *m, bool weak, bool was_weak) {
    if (!n->defined || (!weak && was_weak))
        return true;
    if (!weak && !was_weak && !n->other)
        n->other = m;
    return false;
}

static bool define_func(GrLinked *l, const PtxModule *m, const PtxFunc *f) {
    const PtxFunc *body = f->alias_of ? f->alias_of : f;
    if (!body->has_body || !(f->is_entry || f->is_visible || f->is_weak))
        return true;
    GrLinkedName *n = name_of(l, f->name);
    if (n && takes(n, m, f->is_weak, n->func && n->func->is_weak))
        *n = (GrLinkedName){.name = f->name, .func = body, .module = m, .defined = true};
    return n != NULL;
}

static bool define_var(GrLinked *l, const PtxModule *m, const PtxVar *v) {
    if (v->is_extern || !is_seen(v))
        return true;
    GrLinkedName *n = name_of(l, v->name);
    if (!n)
        return false;
    bool larger = n->var && n->var->is_common && v->is_common && v->size > n->var->size;
    if (larger || takes(n, m, v->is_weak || v->is_common, n->var && (n->var->is_weak || n->var->is_common)))
        *n = (GrLinkedName){.name = v->name, .var = v, .module = m, .defined = true};
    return true;
}

// ---- What refers to them --------------------------------------------------------------------------------------------

static bool put(GrLinked *l, const void *what, GrLinkedName *n) {
    return gr_map_put_u64(&l->of, (uintptr_t)what, n);
}

// `what` means the definition `own`, which others do not see.
static bool put_own(GrLinked *l, const void *what, GrLinkedName own) {
    GrLinkedName *n = GR_NEW(&l->arena, GrLinkedName);
    if (n)
        *n = own;
    return n && put(l, what, n);
}

// `what` means what its name means in the program; `declared` is the name here, in case that no module defines it.
static bool put_shared(GrLinked *l, const void *what, GrLinkedName declared) {
    GrLinkedName *n = name_of(l, declared.name);
    if (n && !n->defined && !n->func && !n->var)
        *n = declared;
    return n && put(l, what, n);
}

// The definition that a module has for itself alone, declared before.
static const PtxFunc *own_func(const PtxModule *m, const PtxFunc *f) {
    for (uint32_t k = 0; k < m->n_funcs; k++)
        if (m->funcs[k]->has_body && !strcmp(m->funcs[k]->name, f->name))
            return m->funcs[k];
    return NULL;
}

static const PtxVar *own_var(const PtxModule *m, const PtxVar *v) {
    for (uint32_t k = 0; k < m->n_vars; k++)
        if (!m->vars[k]->is_extern && !strcmp(m->vars[k]->name, v->name))
            return m->vars[k];
    return NULL;
}

static bool refer_func(GrLinked *l, const PtxModule *m, const PtxFunc *f) {
    if (f->alias_of || (f->has_body && !f->is_weak))
        return true;
    const PtxFunc *own = f->has_body ? NULL : own_func(m, f);
    return own && !own->is_weak
               ? put_own(l, f, (GrLinkedName){.name = f->name, .func = own, .module = m, .defined = true})
               : put_shared(l, f, (GrLinkedName){.name = f->name, .func = f, .module = m});
}

static bool refer_var(GrLinked *l, const PtxModule *m, const PtxVar *v) {
    if (!v->is_extern && !v->is_weak && !v->is_common)
        return true;
    const PtxVar *own = v->is_extern ? own_var(m, v) : NULL;
    return own && !is_seen(own)
               ? put_own(l, v, (GrLinkedName){.name = v->name, .var = own, .module = m, .defined = true})
               : put_shared(l, v, (GrLinkedName){.name = v->name, .var = v, .module = m});
}

// ---- All ------------------------------------------------------------------------------------------------------------

typedef bool EachFunc(GrLinked *l, const PtxModule *m, const PtxFunc *f);
typedef bool EachVar(GrLinked *l, const PtxModule *m, const PtxVar *v);

static bool each(GrLinked *l, EachFunc *func, EachVar *var) {
    for (size_t k = 0; k < l->n; k++) {
        const PtxModule *m = l->modules[k];
        for (uint32_t i = 0; i < m->n_funcs; i++)
            if (!func(l, m, m->funcs[i]))
                return false;
        for (uint32_t i = 0; i < m->n_vars; i++)
            if (!var(l, m, m->vars[i]))
                return false;
    }
    return true;
}

gr_status gr_linked_init(GrLinked *l, const PtxModule *const *modules, size_t n, gr_error *err) {
    *l = (GrLinked){.n = n};
    gr_arena_init(&l->arena);
    l->modules = GR_NEW_ARRAY(&l->arena, const PtxModule *, n + 1);
    GR_NEED_OR(l->modules, no_memory(err));
    for (size_t k = 0; k < n; k++)
        l->modules[k] = modules[k];
    return each(l, define_func, define_var) && each(l, refer_func, refer_var) ? GR_OK : no_memory(err);
}

void gr_linked_free(GrLinked *l) {
    gr_vec_free(&l->names);
    gr_map_free(&l->by_name);
    gr_map_free(&l->of);
    gr_arena_free(&l->arena);
}

const GrLinkedName *gr_linked_func(const GrLinked *l, const PtxFunc *f) {
    const GrLinkedName *n = l ? gr_map_get_u64(&l->of, (uintptr_t)f) : NULL;
    bool own = n && n->func && f->has_body && n->func->is_weak; // of weak ones any will do
    return n && n->func && !own ? n : NULL;
}

const GrLinkedName *gr_linked_var(const GrLinked *l, const PtxVar *v) {
    const GrLinkedName *n = l ? gr_map_get_u64(&l->of, (uintptr_t)v) : NULL;
    return n && n->var ? n : NULL;
}

const PtxVar *gr_linked_find_var(const GrLinked *l, const char *name) {
    const GrLinkedName *n = l ? gr_map_get(&l->by_name, name) : NULL;
    return n && n->defined ? n->var : NULL;
}

bool gr_linked_is_shared_name(const GrLinked *l, const char *name) {
    const PtxVar *first = NULL;
    for (size_t k = 0; l && k < l->n; k++)
        for (uint32_t i = 0; i < l->modules[k]->n_vars; i++) {
            const PtxVar *v = l->modules[k]->vars[i];
            if (strcmp(v->name, name) != 0)
                continue;
            const GrLinkedName *n = gr_linked_var(l, v);
            v = n ? n->var : v;
            if (first && first != v)
                return true;
            first = v;
        }
    return false;
}

// ---- What is wrong --------------------------------------------------------------------------------------------------

const char *gr_linked_twice(const GrLinkedName *n, Arena *a) {
    const char *name = gr_demangle(n->name, a);
    return gr_arena_printf(a, "multiple definition of %s: %s and %s define it", name ? name : n->name,
                           n->module->name, n->other->name);
}

const char *gr_linked_missing(const GrLinked *l, const PtxFunc *f, Arena *a) {
    const char *name = gr_demangle(f->name, a);
    return gr_arena_printf(
        a, "calls %s, a device function of another file: give the file that defines it, too%s",
        name ? name : f->name, l && l->whole ? ", and compile both with -rdc=true" : "");
}

bool gr_linked_is_of_system(const char *name) {
    return !strncmp(name, "__", 2) || !strncmp(name, "cuda", 4) || !strcmp(name, "vprintf") ||
           !strcmp(name, "malloc") || !strcmp(name, "free");
}

static const char *undefined_of(const GrLinked *l, const PtxModule *m) {
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        const GrLinkedName *n = gr_linked_func(l, m->funcs[k]);
        if (n && !n->defined && !gr_linked_is_of_system(n->name))
            return n->name;
    }
    for (uint32_t k = 0; k < m->n_vars; k++) {
        const GrLinkedName *n = gr_linked_var(l, m->vars[k]);
        if (n && !n->defined && n->var->space != PTX_SHARED)
            return n->name;
    }
    return NULL;
}

const char *gr_linked_undefined(const GrLinked *l, const PtxModule *const *modules, size_t n) {
    const char *name = NULL;
    for (size_t k = 0; k < n && !name; k++)
        name = undefined_of(l, modules[k]);
    return name;
}

// ---- What a module needs --------------------------------------------------------------------------------------------

// out[k] is the module of number k, or NULL where it is not needed so far. True: it is new.
static bool need(const GrLinked *l, const PtxModule *m, const PtxModule **out) {
    for (size_t k = 0; m && k < l->n; k++)
        if (l->modules[k] == m && !out[k]) {
            out[k] = m;
            return true;
        }
    return false;
}

static bool need_name(const GrLinked *l, const GrLinkedName *n, const PtxModule **out) {
    if (!n || !n->defined)
        return false;
    bool first = need(l, n->module, out), second = need(l, n->other, out);
    return first || second;
}

static bool need_names(const GrLinked *l, const PtxModule *m, const PtxModule **out) {
    bool more = false;
    for (uint32_t k = 0; k < m->n_funcs; k++)
        more |= need_name(l, gr_linked_func(l, m->funcs[k]), out);
    for (uint32_t k = 0; k < m->n_vars; k++) {
        const PtxVar *v = m->vars[k];
        const GrLinkedName *n = gr_linked_var(l, v);
        if (n && (v->is_extern || !(n->var->is_weak || n->var->is_common))) // else it has its own
            more |= need_name(l, n, out);
    }
    return more;
}

size_t gr_linked_needs(const GrLinked *l, const PtxModule *of, const PtxModule **out) {
    size_t n = 0;
    for (size_t k = 0; k < l->n; k++)
        out[k] = NULL;
    for (bool more = need(l, of, out); more;) {
        more = false;
        for (size_t k = 0; k < l->n; k++)
            more |= out[k] && need_names(l, out[k], out);
    }
    for (size_t k = 0; k < l->n; k++)
        if (out[k])
            out[n++] = out[k];
    return n;
}
