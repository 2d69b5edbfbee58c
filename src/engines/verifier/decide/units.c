// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/decide/units.h"

#include <stdlib.h>
#include <string.h>

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "linking device code"); }

void gr_units_init(GrUnits *u) {
    *u = (GrUnits){0};
    gr_arena_init(&u->arena);
}

void gr_units_free(GrUnits *u) {
    for (size_t k = 0; k < u->linked.len; k++)
        gr_vec_free(&u->linked.data[k]->programs);
    for (size_t k = 0; k < u->links.len; k++)
        gr_linked_free(u->links.data[k]);
    for (size_t k = 0; k < u->all.len; k++) {
        gr_ptx_free(u->all.data[k]->module);
        free(u->all.data[k]->text);
    }
    gr_vec_free(&u->linked);
    gr_vec_free(&u->links);
    gr_vec_free(&u->all);
    gr_vec_free(&u->reasons);
    gr_vec_free(&u->unread);
    gr_arena_free(&u->arena);
}

// Adds a unit of this text, which it takes in every case. *out: it is in u->all.
static gr_status add(GrUnits *u, const char *file, char *text, size_t len, GrUnit **out, gr_error *err) {
    GrUnit *one = GR_NEW(&u->arena, GrUnit);
    if (!one || !gr_vec_push(&u->all, one)) {
        free(text);
        return no_memory(err);
    }
    one->text = text;
    one->len = len;
    one->file = gr_arena_strdup(&u->arena, file);
    *out = one;
    gr_status st = one->file ? gr_ptx_parse(text, len, one->file, &one->module, err) : no_memory(err);
    const char *by = st == GR_OK ? gr_ptx_rewritten_by(one->module) : NULL;
    return by ? gr_fail(
                    err, GR_ERR_UNSUPPORTED,
                    "%s: gpurace has rewritten it already (it defines %s): give the PTX that it was made of",
                    file, by)
              : st;
}

// ---- Linking --------------------------------------------------------------------------------------------------------

// The units of a program whose names are linked.
typedef struct Program {
    size_t number;
    VEC(GrUnit *) units;
    const GrLinked *linked;
} Program;

static gr_status new_link(GrUnits *u, const PtxModule *const *modules, size_t n, GrLinked **out,
                          gr_error *err) {
    GrLinked *l = GR_NEW(&u->arena, GrLinked);
    GR_NEED_OR(l, no_memory(err));
    gr_status st = gr_linked_init(l, modules, n, err);
    if (gr_vec_push(&u->links, l)) {
        *out = l;
        return st;
    }
    gr_linked_free(l);
    return no_memory(err);
}

static gr_status begin(GrUnits *u, Program *p, gr_error *err) {
    const PtxModule **modules = calloc(p->units.len + 1, sizeof *modules);
    GrLinked *l = NULL;
    GR_NEED_OR(modules, no_memory(err));
    for (size_t k = 0; k < p->units.len; k++)
        modules[k] = p->units.data[k]->module;
    gr_status st = new_link(u, modules, p->units.len, &l, err);
    p->linked = l;
    free(modules);
    return st;
}

// Drops the program's links if no linked unit needs them: other programs link its units alike.
static void drop_unused(GrUnits *u, const Program *p) {
    for (size_t k = 0; k < u->linked.len; k++)
        if (u->linked.data[k]->linked == p->linked)
            return;
    for (size_t k = 0; k < u->links.len; k++)
        if (u->links.data[k] == p->linked) {
            gr_linked_free(u->links.data[k]);
            u->links.data[k] = u->links.data[--u->links.len];
            return;
        }
}

static const GrUnit *unit_of(const GrUnits *u, const PtxModule *m) {
    for (size_t k = 0; k < u->all.len; k++)
        if (u->all.data[k]->module == m)
            return u->all.data[k];
    return NULL;
}

static GrLinkedUnit *find(const GrUnits *u, const GrUnit *unit, const PtxModule *const *needs, size_t n) {
    for (size_t k = 0; k < u->linked.len; k++) {
        GrLinkedUnit *l = u->linked.data[k];
        if (l->unit == unit && l->n_needs == n && !memcmp(l->needs, needs, n * sizeof *needs))
            return l;
    }
    return NULL;
}

// The unit as a program has it, with the modules that it needs. `linked` NULL: it is linked with nothing.
static gr_status link_with(GrUnits *u, const GrUnit *unit, size_t program, const GrLinked *linked,
                           const PtxModule *const *needs, size_t n, gr_error *err) {
    GrLinkedUnit *l = find(u, unit, needs, n);
    if (l)
        return gr_vec_push(&l->programs, program) ? GR_OK : no_memory(err);
    if (!linked) {
        GrLinked *alone = NULL;
        GR_MUST(new_link(u, needs, n, &alone, err));
        alone->whole = !unit->relocatable;
        linked = alone;
    }
    l = GR_NEW(&u->arena, GrLinkedUnit);
    GR_NEED_OR(l && (l->needs = GR_NEW_ARRAY(&u->arena, const PtxModule *, n + 1)) &&
                   (l->units = GR_NEW_ARRAY(&u->arena, const GrUnit *, n + 1)) && gr_vec_push(&u->linked, l),
               no_memory(err));
    l->unit = unit;
    l->linked = linked;
    l->n_needs = n;
    for (size_t k = 0; k < n; k++) {
        l->needs[k] = needs[k];
        l->units[k] = unit_of(u, needs[k]);
    }
    return gr_vec_push(&l->programs, program) ? GR_OK : no_memory(err);
}

static gr_status link_unit(GrUnits *u, const GrUnit *unit, const Program *p, gr_error *err) {
    const PtxModule *alone = unit->module, **needs = NULL;
    if (!unit->relocatable)
        return link_with(u, unit, p->number, NULL, &alone, 1, err);
    needs = calloc(p->linked->n + 1, sizeof *needs);
    GR_NEED_OR(needs, no_memory(err));
    size_t n = gr_linked_needs(p->linked, unit->module, needs);
    gr_status st = link_with(u, unit, p->number, p->linked, needs, n, err);
    free(needs);
    return st;
}

// Tells names that two modules of a program define, which no linker takes.
static gr_status say_twice(GrUnits *u, const Program *p, gr_error *err) {
    for (size_t k = 0; k < p->linked->names.len; k++) {
        const GrLinkedName *n = p->linked->names.data[k];
        const char *why = n->other ? gr_linked_twice(n, &u->arena) : NULL, *text;
        bool there = false;
        if (!n->other)
            continue;
        text = why ? gr_arena_printf(&u->arena, "unknown: the device code does not link: %s", why) : NULL;
        for (size_t i = 0; text && i < u->reasons.len && !there; i++)
            there = !strcmp(u->reasons.data[i], text);
        if (!text || (!there && !gr_vec_push(&u->reasons, text)))
            return no_memory(err);
    }
    return GR_OK;
}

static void see_several(GrUnits *u) {
    for (size_t k = 0; k < u->linked.len; k++)
        for (size_t i = 0; i < u->linked.len; i++)
            u->linked.data[k]->several |= i != k && u->linked.data[k]->unit == u->linked.data[i]->unit;
}

// ---- PTX files ------------------------------------------------------------------------------------------------------

static bool is_of_another(const GrLinkedName *n, const PtxModule *m) {
    return n && n->defined && n->module != m;
}

// A module refers to what another one defines.
static bool refers(const GrLinked *l) {
    for (size_t k = 0; k < l->n; k++) {
        const PtxModule *m = l->modules[k];
        for (uint32_t i = 0; i < m->n_funcs; i++)
            if (!m->funcs[i]->has_body && is_of_another(gr_linked_func(l, m->funcs[i]), m))
                return true;
        for (uint32_t i = 0; i < m->n_vars; i++)
            if (m->vars[i]->is_extern && is_of_another(gr_linked_var(l, m->vars[i]), m))
                return true;
    }
    return false;
}

static gr_status read_ptx(GrUnits *u, const char *file, gr_error *err) {
    char *text;
    size_t len;
    GrUnit *one;
    gr_status st = gr_file_read(file, &text, &len, err);
    return st == GR_OK ? add(u, file, text, len, &one, err) : st;
}

// Reads a file; names one that cannot be read or makes no sense, and goes on.
static gr_status read_or_name(GrUnits *u, const char *file, bool *there, gr_error *err) {
    gr_error why = {0};
    char text[sizeof why.file + sizeof why.msg + 32];
    gr_status st = read_ptx(u, file, &why);
    *there = st == GR_OK;
    if (st == GR_ERR_NOMEM)
        *err = why;
    if (st == GR_OK || st == GR_ERR_NOMEM)
        return st;
    const char *said =
        gr_arena_printf(&u->arena, "%s: nothing of it was checked; correct it, or leave it out",
                        gr_error_text(&why, text, sizeof text));
    return said && gr_vec_push(&u->unread, said) ? GR_OK : no_memory(err);
}

gr_status gr_units_of_ptx(GrUnits *u, const char *const *files, size_t n, gr_error *err) {
    gr_status st = GR_OK;
    Program p = {0};
    for (size_t k = 0; k < n && st == GR_OK; k++) {
        bool there;
        st = read_or_name(u, files[k], &there, err);
        if (st == GR_OK && there && !gr_vec_push(&p.units, u->all.data[u->all.len - 1]))
            st = no_memory(err);
    }
    if (st == GR_OK)
        st = begin(u, &p, err);
    bool one = st == GR_OK && refers(p.linked);
    for (size_t k = 0; k < p.units.len && st == GR_OK; k++) {
        GrUnit *unit = p.units.data[k];
        const PtxModule *alone = unit->module;
        unit->relocatable = true;
        st = one ? link_unit(u, unit, &p, err) : link_with(u, unit, 0, NULL, &alone, 1, err);
    }
    if (st == GR_OK && one)
        st = say_twice(u, &p, err);
    if (p.linked)
        drop_unused(u, &p);
    gr_vec_free(&p.units);
    return st;
}

// ---- Sources --------------------------------------------------------------------------------------------------------

static bool is_in(const GrHostProgram *p, const GrUnit *unit) {
    for (size_t k = 0; k < p->n; k++)
        if (p->sources[k] == unit->source)
            return true;
    return false;
}

static gr_status begin_all(GrUnits *u, const GrHostCode *code, Program *programs, gr_error *err) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < code->programs.len && st == GR_OK; k++) {
        Program *p = &programs[k];
        p->number = k;
        for (size_t i = 0; i < u->all.len; i++) {
            GrUnit *unit = u->all.data[i];
            if (unit->relocatable && is_in(&code->programs.data[k], unit) && !gr_vec_push(&p->units, unit))
                return no_memory(err);
        }
        st = begin(u, p, err);
        if (st == GR_OK)
            st = say_twice(u, p, err);
    }
    return st;
}

static gr_status read_code(GrUnits *u, GrHostPtx *code, gr_error *err) {
    GrUnit *one;
    char *text = code->text;
    code->text = NULL;
    gr_status st = add(u, code->file, text, code->len, &one, err);
    if (st == GR_OK) {
        one->source = code->source;
        one->relocatable = code->relocatable;
    }
    return st;
}

gr_status gr_units_of_code(GrUnits *u, GrHostCode *code, gr_error *err) {
    gr_status st = GR_OK;
    size_t n = code->programs.len;
    Program *programs = calloc(n + 1, sizeof *programs);
    GR_NEED_OR(programs, no_memory(err));
    for (size_t k = 0; k < code->ptx.len && st == GR_OK; k++)
        st = read_code(u, &code->ptx.data[k], err);
    if (st == GR_OK)
        st = begin_all(u, code, programs, err);
    for (size_t i = 0; i < u->all.len; i++)
        for (size_t k = 0; k < n && st == GR_OK; k++)
            if (is_in(&code->programs.data[k], u->all.data[i]))
                st = link_unit(u, u->all.data[i], &programs[k], err);
    see_several(u);
    for (size_t k = 0; k < n; k++) {
        drop_unused(u, &programs[k]);
        gr_vec_free(&programs[k].units);
    }
    free(programs);
    return st;
}
