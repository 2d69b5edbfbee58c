// SPDX-License-Identifier: Apache-2.0
// names — registers, variables, labels and functions by name, as text that is inserted at a statement of a function
// sees them.
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

PtxFunc *gr_ptx_find_func(const PtxModule *m, const char *name) { return gr_map_get(&m->func_map, name); }

PtxVar *gr_ptx_find_var(const PtxModule *m, const char *name) { return gr_map_get(&m->var_map, name); }

// Names made here are %gr<N> and $GR_<N>; a module that already has some (it was rewritten and read back) must not see
// them again.
void gr_ptx_note_fresh(PtxFunc *f, const char *name) {
    const char *n = !strncmp(name, "%gr", 3) ? name + 3 : !strncmp(name, "$GR_", 4) ? name + 4 : NULL;
    if (!n || !lex_is(*n, CH_DIGIT))
        return;
    uint64_t v = 0;
    for (; lex_is(*n, CH_DIGIT) && v < UINT32_MAX / 2; n++)
        v = v * 10 + (uint64_t)(*n - '0');
    if (v < UINT32_MAX / 2 && f->fresh <= v)
        f->fresh = (uint32_t)v + 1;
}

PtxReg *gr_parse_make_reg(PtxFunc *f, const char *name, PtxType type, unsigned vec) {
    Arena *a = f->module->bodies;
    if (f->n_regs == f->cap_regs) {
        uint32_t cap = f->cap_regs ? f->cap_regs * 2 : 32;
        PtxReg **regs = GR_NEW_ARRAY(a, PtxReg *, cap);
        if (!regs)
            return NULL;
        if (f->n_regs)
            memcpy(regs, f->regs, f->n_regs * sizeof *regs);
        f->regs = regs;
        f->cap_regs = cap;
    }
    PtxReg *r = GR_NEW(a, PtxReg);
    if (!r || !name)
        return NULL;
    *r = (PtxReg){.name = name, .type = type, .vec = (uint8_t)vec, .index = f->n_regs};
    f->regs[f->n_regs++] = r;
    gr_ptx_note_fresh(f, name);
    return r;
}

PtxReg *gr_build_made_reg(const PtxFunc *f, const char *name, size_t len) {
    if (len < 4 || memcmp(name, "%gr", 3) || name[3] == '0')
        return len == 4 && f->cap_made && !memcmp(name, "%gr0", 4) ? f->made[0] : NULL;
    uint64_t v = 0;
    for (size_t k = 3; k < len; k++) {
        if (!lex_is(name[k], CH_DIGIT) || v > UINT32_MAX)
            return NULL;
        v = v * 10 + (uint64_t)(name[k] - '0');
    }
    return v < f->cap_made ? f->made[v] : NULL;
}

// Notes in `declared`, for a name or a prefix of names, the one statement that declares it; or the function, if a
// parameter does or several statements do.
static bool note_name(PtxFunc *f, const char *name, PtxStmt *s) {
    return gr_map_put(&f->declared, name, gr_map_get(&f->declared, name) ? (void *)f : s);
}

bool gr_build_note_declared(PtxFunc *f, PtxStmt *s) {
    bool ok = true;
    if (s->kind == PTX_DECL_VAR)
        ok = note_name(f, s->var->name, s);
    for (uint32_t k = 0; s->kind == PTX_DECL_REG && ok && k < s->reg_decl->n_names; k++)
        ok = note_name(f, s->reg_decl->names[k].name, s);
    return ok;
}

// Whether looking through the function for a declaration of `name` has a chance. Most names in a pass's text are those
// of its own registers, of module variables and of functions.
static bool may_be_declared(PtxFunc *f, const char *name) {
    if (!f->declared_known) {
        bool ok = true;
        for (PtxStmt *s = f->first; s && ok; s = s->next)
            ok = gr_build_note_declared(f, s);
        for (uint32_t k = 0; k < f->n_params && ok; k++)
            ok = gr_map_put(&f->declared, f->params[k]->name, f);
        for (uint32_t k = 0; k < f->n_rets && ok; k++)
            ok = gr_map_put(&f->declared, f->rets[k]->name, f);
        if (!ok)
            return true;
        f->declared_known = true;
    }
    char prefix[256];
    size_t len = strlen(name);
    if (len >= sizeof prefix)
        return true;
    memcpy(prefix, name, len + 1);
    while (!gr_map_get(&f->declared, prefix)) {
        if (!len || !lex_is(prefix[--len], CH_DIGIT))
            return false;
        prefix[len] = 0;
    }
    return true;
}

static bool is_outermost(const PtxStmt *decl) {
    int depth = 0;
    for (const PtxStmt *s = decl->prev; s; s = s->prev)
        depth += (s->kind == PTX_SCOPE_OPEN) - (s->kind == PTX_SCOPE_CLOSE);
    return depth == 0;
}

// The statement outside nested scopes that declares `name`, if no other one in the function does; NULL: that is not
// known, or none does. Large functions take long to look through.
static PtxStmt *only_decl(PtxFunc *f, const char *name, bool (*match)(PtxStmt *, const char *)) {
    char prefix[256];
    size_t len = strlen(name);
    PtxStmt *only = NULL;
    if (!f->declared_known || len >= sizeof prefix)
        return NULL;
    memcpy(prefix, name, len + 1);
    for (;;) {
        void *by = gr_map_get(&f->declared, prefix);
        if (by && (only || by == f))
            return NULL;
        only = by ? by : only;
        if (!len || !lex_is(prefix[len - 1], CH_DIGIT))
            break;
        prefix[--len] = 0;
    }
    return only && match(only, name) && is_outermost(only) ? only : NULL;
}

// Calls `match` on the declarations visible at `at` (NULL: at the end of the body), innermost first, until it is true.
static PtxStmt *visible_decl(PtxFunc *f, PtxStmt *at, const char *name,
                             bool (*match)(PtxStmt *, const char *)) {
    unsigned closed = 0; // scopes that ended before `at`: what they declare is not visible
    for (PtxStmt *s = at ? at->prev : f->last; s; s = s->prev) {
        if (s->kind == PTX_SCOPE_CLOSE)
            closed++;
        else if (s->kind == PTX_SCOPE_OPEN)
            closed -= closed > 0;
        else if (!closed && match(s, name))
            return s;
    }
    return NULL;
}

// The entry of `d` that declares `name`; its number in *number. -1 when none does.
static int decl_entry(const PtxRegDecl *d, const char *name, uint32_t *number) {
    for (uint32_t k = 0; k < d->n_names; k++) {
        if (!d->names[k].count) {
            if (!strcmp(d->names[k].name, name))
                return (int)k;
            continue;
        }
        size_t len = strlen(d->names[k].name);
        if (strncmp(d->names[k].name, name, len) != 0 || !lex_is(name[len], CH_DIGIT) ||
            (name[len] == '0' && name[len + 1]))
            continue;
        char *end;
        unsigned long v = strtoul(name + len, &end, 10);
        if (!*end && v < d->names[k].count) {
            *number = (uint32_t)v;
            return (int)k;
        }
    }
    return -1;
}

static bool declares_reg(PtxStmt *s, const char *name) {
    uint32_t number;
    return s->kind == PTX_DECL_REG && decl_entry(s->reg_decl, name, &number) >= 0;
}

static bool declares_var(PtxStmt *s, const char *name) {
    return s->kind == PTX_DECL_VAR && !strcmp(s->var->name, name);
}

static PtxReg *declared_reg(PtxFunc *f, PtxRegDecl *d, const char *name) {
    uint32_t number = 0;
    uint32_t entry = (uint32_t)decl_entry(d, name, &number);
    for (uint32_t k = 0; k < f->n_regs; k++)
        if (f->regs[k]->decl == d && f->regs[k]->entry == entry && f->regs[k]->number == number)
            return f->regs[k];
    PtxReg *r = gr_parse_make_reg(f, gr_arena_strdup(&f->module->arena, name), d->type, d->vec);
    if (r) {
        r->decl = d;
        r->entry = entry;
        r->number = number;
    }
    return r;
}

// Looking through the statements is slow on large functions, so a name that only one declaration introduces, outside
// nested scopes, is looked up once.
PtxReg *gr_build_find_reg(PtxFunc *f, PtxStmt *at, const char *name) {
    PtxReg *r = gr_map_get(&f->reg_names, name);
    if (r || !may_be_declared(f, name) || only_decl(f, name, declares_var))
        return r;
    for (uint32_t k = 0; k < f->n_regs; k++)
        if (!f->regs[k]->decl && !strcmp(f->regs[k]->name, name))
            r = f->regs[k]; // made by a pass, or a parameter: unique, unless shadowed
    PtxStmt *only = only_decl(f, name, declares_reg),
            *decl = only ? only : visible_decl(f, at, name, declares_reg);
    if (decl)
        r = declared_reg(f, decl->reg_decl, name);
    if (!r)
        return NULL;
    unsigned n = only != NULL, depth = 0, nested = 0;
    for (PtxStmt *s = only ? NULL : f->first; s; s = s->next) {
        depth += s->kind == PTX_SCOPE_OPEN;
        depth -= s->kind == PTX_SCOPE_CLOSE;
        if (declares_reg(s, name)) {
            n++;
            nested += depth > 0;
        }
    }
    if (n == (r->decl != NULL) && !nested)
        gr_map_put(&f->reg_names, r->name, r); // a cache: no matter if memory is out
    return r;
}

PtxVar *gr_build_find_var(PtxFunc *f, PtxStmt *at, const char *name) {
    if (!may_be_declared(f, name))
        return NULL;
    PtxStmt *only = only_decl(f, name, declares_var),
            *decl = only ? only : visible_decl(f, at, name, declares_var);
    if (decl)
        return decl->var;
    for (uint32_t k = 0; k < f->n_params; k++)
        if (!strcmp(f->params[k]->name, name))
            return f->params[k];
    for (uint32_t k = 0; k < f->n_rets; k++)
        if (!strcmp(f->rets[k]->name, name))
            return f->rets[k];
    return NULL;
}

PtxLabel *gr_build_find_label(PtxFunc *f, const char *name) {
    for (PtxStmt *s = f->first; s; s = s->next)
        if (s->label && !strcmp(s->label->name, name))
            return s->label;
    return NULL;
}
