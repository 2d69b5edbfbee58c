// SPDX-License-Identifier: Apache-2.0
#include "inject/pieces.h"

#include "ptx/reach.h"

#include <string.h>

typedef struct Piece {
    size_t at, end; // in the text
    uint32_t func;  // number of the function that it belongs to, plus 1; 0: all kernels need it
    bool dropped;   // none does
} Piece;

struct Pieces {
    const char **kernels; // names
    bool **needs;         // of each: [n_funcs]
    const char **funcs;   // names
    uint32_t n_kernels, n_funcs;
    Piece *pieces;
    size_t n_pieces, begin; // the header ends at `begin`
};

// ---- Whether it can be cut ---------------------------------------------------------------------------------------

static bool starts_with(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

// A literal has a name that no source can have. Nobody writes it, and the host does not know it.
static bool is_literal(const PtxVar *v) {
    bool named = starts_with(v->name, "$") || starts_with(v->name, "__unnamed_");
    for (uint32_t k = 0; k < v->n_init; k++)
        if (v->init[k].symbol)
            return false;
    return named && !v->is_extern && !v->is_visible && v->n_init;
}

static bool is_shared(const PtxVar *v) {
    return v->space == PTX_SHARED || v->space == PTX_SHARED_CTA || v->space == PTX_SHARED_CLUSTER;
}

static const char *refuses_operand(const PtxInstr *i, const PtxOperand *o) {
    if (o->kind == PTX_O_RAW)
        return "an instruction is not understood";
    if (o->kind == PTX_O_FUNC && i->op != PTX_OP_CALL)
        return "a function's address is taken";
    if (o->kind == PTX_O_VAR && (o->var->space == PTX_GLOBAL || o->var->space == PTX_CONST) &&
        !is_literal(o->var))
        return "kernels refer to variables of the module";
    for (unsigned k = 0; k < o->n_sub; k++) {
        const char *why = refuses_operand(i, &o->sub[k]);
        if (why)
            return why;
    }
    return NULL;
}

static const char *refuses_function(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind == PTX_RAW || s->kind == PTX_TARGETS)
            return "a directive in a function is not understood";
        for (unsigned k = 0; s->kind == PTX_INSTR && k < s->instr->n_operands; k++) {
            const char *why = s->instr->op == PTX_OP_CALL && !s->instr->callee
                                  ? "functions are called by address"
                                  : refuses_operand(s->instr, &s->instr->operands[k]);
            if (why)
                return why;
        }
    }
    return NULL;
}

static const char *refuses(const PtxModule *m) {
    if (m->debug)
        return "it is a debug build";
    for (const PtxItem *i = m->items; i; i = i->next)
        if (i->kind == PTX_ITEM_RAW)
            return "it has a directive that is not understood";
    for (uint32_t k = 0; k < m->n_vars; k++)
        if (m->vars[k]->is_extern && !is_shared(m->vars[k]))
            return "it has variables of other modules";
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        const char *why = m->funcs[k]->has_body ? refuses_function(m->funcs[k]) : NULL;
        if (why)
            return why;
    }
    return NULL;
}

// ---- What kernels need -------------------------------------------------------------------------------------------

static bool add_kernel(Pieces *p, const PtxModule *m, const PtxFunc *f, Arena *arena) {
    bool *needs = GR_NEW_ARRAY(arena, bool, (size_t)m->n_funcs + 1);
    const char *name = gr_arena_strdup(arena, f->name);
    if (!needs || !name)
        return false;
    gr_ptx_mark_reachable(m, f, needs);
    p->kernels[p->n_kernels] = name;
    p->needs[p->n_kernels++] = needs;
    return true;
}

Pieces *gr_pieces_find(const PtxModule *m, Arena *arena, const char **why) {
    *why = refuses(m);
    if (*why)
        return NULL;
    Pieces *p = GR_NEW(arena, Pieces);
    *why = "out of memory";
    if (!p)
        return NULL;
    *p = (Pieces){.kernels = GR_NEW_ARRAY(arena, const char *, (size_t)m->n_funcs + 1),
                  .needs = GR_NEW_ARRAY(arena, bool *, (size_t)m->n_funcs + 1),
                  .funcs = GR_NEW_ARRAY(arena, const char *, (size_t)m->n_funcs + 1),
                  .n_funcs = m->n_funcs};
    if (!p->kernels || !p->needs || !p->funcs)
        return NULL;
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        const PtxFunc *f = m->funcs[k];
        if (!(p->funcs[k] = gr_arena_strdup(arena, f->name)) ||
            (f->is_entry && f->has_body && !add_kernel(p, m, f, arena)))
            return NULL;
    }
    *why = p->n_kernels > 1 ? NULL : "it has one kernel";
    return p->n_kernels > 1 ? p : NULL;
}

// ---- The text ------------------------------------------------------------------------------------------------------

// A variable of the program's that no kernel refers to need not be there again.
static bool is_dropped(const PtxItem *i) {
    return i->kind == PTX_ITEM_VAR && !i->tag.inserted && !is_shared(i->var) && !is_literal(i->var);
}

bool gr_pieces_printed(Pieces *p, const PtxModule *m, size_t len, Arena *arena) {
    size_t n = 0;
    for (const PtxItem *i = m->items; i; i = i->next)
        n++;
    p->pieces = GR_NEW_ARRAY(arena, Piece, n + 1);
    if (!p->pieces)
        return false;
    p->begin = m->items ? m->items->at : len;
    for (const PtxItem *i = m->items; i; i = i->next) {
        bool programs = i->kind == PTX_ITEM_FUNC && i->func->index < p->n_funcs && !i->func->tag.inserted;
        p->pieces[p->n_pieces++] = (Piece){.at = i->at,
                                           .end = i->next ? i->next->at : len,
                                           .func = programs ? i->func->index + 1 : 0,
                                           .dropped = is_dropped(i)};
    }
    return true;
}

// What needs the definition of a function needs its declarations.
static bool is_needed(const Pieces *p, const bool *needs, const Piece *piece) {
    if (piece->dropped || !piece->func)
        return !piece->dropped;
    for (uint32_t k = 0; k < p->n_funcs; k++)
        if (needs[k] && (k + 1 == piece->func || !strcmp(p->funcs[k], p->funcs[piece->func - 1])))
            return true;
    return false;
}

gr_status gr_pieces_cut(const Pieces *p, const char *text, const char *kernel, StrBuf *out, gr_error *err) {
    uint32_t n = 0;
    while (n < p->n_kernels && strcmp(p->kernels[n], kernel))
        n++;
    if (n == p->n_kernels)
        return gr_fail(err, GR_ERR_NOT_FOUND, "there is no kernel %s", kernel);
    gr_str_addn(out, text, p->begin);
    for (size_t k = 0; k < p->n_pieces; k++)
        if (is_needed(p, p->needs[n], &p->pieces[k]))
            gr_str_addn(out, text + p->pieces[k].at, p->pieces[k].end - p->pieces[k].at);
    return out->oom ? gr_fail(err, GR_ERR_NOMEM, "out of memory") : GR_OK;
}
