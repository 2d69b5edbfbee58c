// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/decide/units.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "linking device code"); }

void gr_units_init(GrUnits *u) {
    *u = (GrUnits){0};
    gr_arena_init(&u->arena);
}

void gr_units_free(GrUnits *u) {
    for (size_t k = 0; k < u->linked.len; k++) {
        gr_linked_free(&u->linked.data[k]->linked);
        gr_vec_free(&u->linked.data[k]->programs);
    }
    for (size_t k = 0; k < u->all.len; k++) {
        GrUnit *one = u->all.data[k];
        if (one->temporary)
            unlink(one->ptx);
        gr_ptx_free(one->module);
        free(one->text);
    }
    gr_vec_free(&u->linked);
    gr_vec_free(&u->all);
    gr_vec_free(&u->reasons);
    gr_arena_free(&u->arena);
}

// ---- Reading --------------------------------------------------------------------------------------------------------------------

// A unit of this text, which it takes in every case. *out: it is in u->all.
static gr_status add(GrUnits *u, const char *file, char *text, size_t len, GrUnit **out, gr_error *err) {
    GrUnit *one = GR_NEW(&u->arena, GrUnit);
    if (!one || !gr_vec_push(&u->all, one)) {
        free(text);
        return no_memory(err);
    }
    one->text = text;
    one->file = gr_arena_strdup(&u->arena, file);
    *out = one;
    return one->file ? gr_ptx_parse(text, len, one->file, &one->module, err) : no_memory(err);
}

static gr_status read_ptx(GrUnits *u, const char *file, gr_error *err) {
    char *text, path[PATH_MAX];
    size_t len;
    GrUnit *one;
    gr_status st = gr_file_read(file, &text, &len, err);
    if (st == GR_OK)
        st = add(u, file, text, len, &one, err);
    if (st != GR_OK)
        return st;
    one->relocatable = true;
    one->ptx = gr_arena_strdup(&u->arena, realpath(file, path) ? path : file);
    return one->ptx ? GR_OK : no_memory(err);
}

// The PTX is kept in a file as long as it takes, for replays.
static gr_status read_code(GrUnits *u, GrHostPtx *code, gr_error *err) {
    char path[] = "/tmp/gpurace-check-XXXXXX";
    GrUnit *one;
    char *text = code->text;
    code->text = NULL;
    gr_status st = add(u, code->file, text, code->len, &one, err);
    if (st != GR_OK)
        return st;
    one->source = code->source;
    one->relocatable = code->relocatable;
    int fd = mkstemp(path);
    if (fd >= 0)
        close(fd);
    one->temporary = fd >= 0;
    one->ptx = gr_arena_strdup(&u->arena, path);
    return one->ptx ? gr_file_write(one->ptx, text, code->len, err) : no_memory(err);
}

// ---- Linking --------------------------------------------------------------------------------------------------------------------

// The units of a program whose names are linked.
typedef struct Program {
    size_t number;
    VEC(GrUnit *) units;
    VEC(const PtxModule *) modules;
    GrLinked linked;
} Program;

static gr_status begin(Program *p, gr_error *err) {
    for (size_t k = 0; k < p->units.len; k++)
        if (!gr_vec_push(&p->modules, p->units.data[k]->module))
            return no_memory(err);
    return gr_linked_init(&p->linked, p->modules.data, p->modules.len, err);
}

static void end(Program *p) {
    gr_linked_free(&p->linked);
    gr_vec_free(&p->units);
    gr_vec_free(&p->modules);
}

static const GrUnit *unit_of(const GrUnits *u, const PtxModule *m) {
    for (size_t k = 0; k < u->all.len; k++)
        if (u->all.data[k]->module == m)
            return u->all.data[k];
    return NULL;
}

static GrLinkedUnit *find(const GrUnits *u, const GrUnit *unit, const PtxModule *const *with, size_t n) {
    for (size_t k = 0; k < u->linked.len; k++) {
        GrLinkedUnit *l = u->linked.data[k];
        if (l->unit == unit && l->linked.n == n && !memcmp(l->linked.modules, with, n * sizeof *with))
            return l;
    }
    return NULL;
}

// The unit as a program links it: with the modules `with`.
static gr_status link_with(GrUnits *u, const GrUnit *unit, size_t program, const PtxModule *const *with,
                           size_t n, gr_error *err) {
    GrLinkedUnit *l = find(u, unit, with, n);
    if (l)
        return gr_vec_push(&l->programs, program) ? GR_OK : no_memory(err);
    l = GR_NEW(&u->arena, GrLinkedUnit);
    if (!l || !(l->ptx = GR_NEW_ARRAY(&u->arena, const char *, n + 1)) || !gr_vec_push(&u->linked, l))
        return no_memory(err);
    l->unit = unit;
    for (size_t k = 0; k < n; k++)
        l->ptx[k] = unit_of(u, with[k])->ptx;
    gr_status st = gr_linked_init(&l->linked, with, n, err);
    return st != GR_OK || gr_vec_push(&l->programs, program) ? st : no_memory(err);
}

static gr_status link_unit(GrUnits *u, const GrUnit *unit, const Program *p, gr_error *err) {
    const PtxModule *alone = unit->module, **with = NULL;
    if (!unit->relocatable)
        return link_with(u, unit, p->number, &alone, 1, err);
    with = calloc(p->linked.n + 1, sizeof *with);
    if (!with)
        return no_memory(err);
    size_t n = gr_linked_needs(&p->linked, unit->module, with);
    gr_status st = link_with(u, unit, p->number, with, n, err);
    free(with);
    return st;
}

// Names that two modules of a program define: no linker takes them.
static gr_status say_twice(GrUnits *u, const Program *p, gr_error *err) {
    for (size_t k = 0; k < p->linked.names.len; k++) {
        const GrLinkedName *n = p->linked.names.data[k];
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

// ---- PTX files ------------------------------------------------------------------------------------------------------------------

static bool is_of_another(const GrLinkedName *n, const PtxModule *m) {
    return n && n->defined && n->module != m;
}

// Whether a module refers to what another one defines.
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

gr_status gr_units_of_ptx(GrUnits *u, const char *const *files, size_t n, gr_error *err) {
    gr_status st = GR_OK;
    Program p = {0};
    for (size_t k = 0; k < n && st == GR_OK; k++) {
        st = read_ptx(u, files[k], err);
        if (st == GR_OK && !gr_vec_push(&p.units, u->all.data[u->all.len - 1]))
            st = no_memory(err);
    }
    if (st == GR_OK)
        st = begin(&p, err);
    bool one = st == GR_OK && refers(&p.linked);
    for (size_t k = 0; k < p.units.len && st == GR_OK; k++) {
        p.units.data[k]->relocatable = one;
        st = link_unit(u, p.units.data[k], &p, err);
    }
    if (st == GR_OK && one)
        st = say_twice(u, &p, err);
    end(&p);
    return st;
}

// ---- Sources --------------------------------------------------------------------------------------------------------------------

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
        st = begin(p, err);
        if (st == GR_OK)
            st = say_twice(u, p, err);
    }
    return st;
}

gr_status gr_units_of_code(GrUnits *u, GrHostCode *code, gr_error *err) {
    gr_status st = GR_OK;
    size_t n = code->programs.len;
    Program *programs = calloc(n + 1, sizeof *programs);
    if (!programs)
        return no_memory(err);
    for (size_t k = 0; k < code->ptx.len && st == GR_OK; k++)
        st = read_code(u, &code->ptx.data[k], err);
    if (st == GR_OK)
        st = begin_all(u, code, programs, err);
    for (size_t i = 0; i < u->all.len; i++)
        for (size_t k = 0; k < n && st == GR_OK; k++)
            if (is_in(&code->programs.data[k], u->all.data[i]))
                st = link_unit(u, u->all.data[i], &programs[k], err);
    see_several(u);
    for (size_t k = 0; k < n; k++)
        end(&programs[k]);
    free(programs);
    return st;
}
