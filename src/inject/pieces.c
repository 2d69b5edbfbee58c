// SPDX-License-Identifier: Apache-2.0
#include "inject/pieces.h"

#include "base/map.h"
#include "base/vec.h"
#include "ptx/reach.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX };

typedef struct Piece {
    size_t at, end; // in the text
    uint32_t next;  // piece of the same function, or that all kernels need; NONE: there are no more
} Piece;

// The functions that a kernel may call, and the kernel, by the first of that name. (Who needs a function's definition
// needs its declarations.)
typedef struct Needs {
    const char *kernel;
    uint32_t *funcs, n;
} Needs;

struct Pieces {
    Needs *needs; // by name
    uint32_t n_kernels, n_funcs;
    uint32_t *named; // of each function: the first of its name
    Piece *pieces;
    uint32_t *of;           // of each function that is the first of its name: its first piece
    uint32_t of_all;        // the first that all kernels need
    size_t n_pieces, begin; // the header ends at `begin`
};

// ---- Whether it can be cut ---------------------------------------------------------------------------------------

static bool starts_with(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

// A literal has a name that no source can have: nobody writes to it, and the host does not know it.
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

typedef struct Finding {
    Pieces *p;
    Arena *arena;
    uint32_t *stamps;
    VEC(uint32_t) reached;
    bool nomem;
} Finding;

static void add_reached(void *user, const PtxFunc *f) {
    Finding *x = user;
    if (!gr_vec_push(&x->reached, x->p->named[f->index]))
        x->nomem = true;
}

static bool add_kernel(Finding *x, const PtxFunc *f) {
    Pieces *p = x->p;
    x->reached.len = 0;
    gr_ptx_each_reachable(f, x->stamps, f->index + 1, add_reached, x);
    Needs n = {.kernel = gr_arena_strdup(x->arena, f->name),
               .funcs = GR_NEW_ARRAY(x->arena, uint32_t, x->reached.len + 1),
               .n = (uint32_t)x->reached.len};
    if (x->nomem || !n.kernel || !n.funcs)
        return false;
    memcpy(n.funcs, x->reached.data, x->reached.len * sizeof *n.funcs);
    p->needs[p->n_kernels++] = n;
    return true;
}

static int by_kernel(const void *a, const void *b) {
    return strcmp(((const Needs *)a)->kernel, ((const Needs *)b)->kernel);
}

static bool find_names(Pieces *p, const PtxModule *m) {
    Map first = {0};
    bool ok = true;
    for (uint32_t k = 0; k < m->n_funcs && ok; k++) {
        uintptr_t known = (uintptr_t)gr_map_get(&first, m->funcs[k]->name);
        p->named[k] = known ? (uint32_t)known - 1 : k;
        ok = known || gr_map_put(&first, m->funcs[k]->name, (void *)(uintptr_t)(k + 1));
    }
    gr_map_free(&first);
    return ok;
}

static bool find_kernels(Pieces *p, const PtxModule *m, Arena *arena) {
    Finding x = {.p = p, .arena = arena, .stamps = calloc((size_t)m->n_funcs + 1, sizeof *x.stamps)};
    bool ok = x.stamps && find_names(p, m);
    for (uint32_t k = 0; k < m->n_funcs && ok; k++)
        if (m->funcs[k]->is_entry && m->funcs[k]->has_body)
            ok = add_kernel(&x, m->funcs[k]);
    qsort(p->needs, p->n_kernels, sizeof *p->needs, by_kernel);
    free(x.stamps);
    gr_vec_free(&x.reached);
    return ok;
}

Pieces *gr_pieces_find(const PtxModule *m, Arena *arena, const char **why) {
    *why = refuses(m);
    if (*why)
        return NULL;
    size_t n = (size_t)m->n_funcs + 1;
    Pieces *p = GR_NEW(arena, Pieces);
    *why = "out of memory";
    if (!p)
        return NULL;
    *p = (Pieces){.needs = GR_NEW_ARRAY(arena, Needs, n),
                  .named = GR_NEW_ARRAY(arena, uint32_t, n),
                  .of = GR_NEW_ARRAY(arena, uint32_t, n),
                  .n_funcs = m->n_funcs};
    if (!p->needs || !p->named || !p->of || !find_kernels(p, m, arena))
        return NULL;
    *why = p->n_kernels > 1 ? NULL : "it has one kernel";
    return p->n_kernels > 1 ? p : NULL;
}

// ---- The text ------------------------------------------------------------------------------------------------------

// A variable of the program's that no kernel refers to need not be there again.
static bool is_dropped(const PtxItem *i) {
    return i->kind == PTX_ITEM_VAR && !i->tag.inserted && !is_shared(i->var) && !is_literal(i->var);
}

// The list that has the piece of this item; NULL: no kernel needs it.
static uint32_t *list_of(Pieces *p, const PtxItem *i) {
    if (i->kind == PTX_ITEM_FUNC && i->func->index < p->n_funcs && !i->func->tag.inserted)
        return &p->of[p->named[i->func->index]];
    return is_dropped(i) ? NULL : &p->of_all;
}

bool gr_pieces_printed(Pieces *p, const PtxModule *m, size_t len, Arena *arena) {
    size_t n = 0;
    for (const PtxItem *i = m->items; i; i = i->next)
        n++;
    p->pieces = n < NONE ? GR_NEW_ARRAY(arena, Piece, n + 1) : NULL;
    if (!p->pieces)
        return false;
    p->begin = m->items ? m->items->at : len;
    p->of_all = NONE;
    for (uint32_t k = 0; k < p->n_funcs; k++)
        p->of[k] = NONE;
    for (const PtxItem *i = m->items; i; i = i->next) {
        Piece *piece = &p->pieces[p->n_pieces];
        uint32_t *list = list_of(p, i);
        *piece = (Piece){.at = i->at, .end = i->next ? i->next->at : len, .next = list ? *list : NONE};
        if (list)
            *list = (uint32_t)p->n_pieces;
        p->n_pieces++;
    }
    return true;
}

typedef VEC(uint32_t) Numbers;

static bool add_list(const Pieces *p, uint32_t first, Numbers *out) {
    for (uint32_t k = first; k != NONE; k = p->pieces[k].next)
        if (!gr_vec_push(out, k))
            return false;
    return true;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Appends the pieces in their order in the text, each once: several of one function are needed together.
static bool put_pieces(const Pieces *p, const char *text, const Needs *needs, StrBuf *out) {
    Numbers numbers = {0};
    bool ok = add_list(p, p->of_all, &numbers);
    for (uint32_t k = 0; k < needs->n && ok; k++)
        ok = add_list(p, p->of[needs->funcs[k]], &numbers);
    if (ok && numbers.len)
        qsort(numbers.data, numbers.len, sizeof *numbers.data, by_number);
    for (size_t k = 0; k < numbers.len && ok; k++) {
        const Piece *piece = &p->pieces[numbers.data[k]];
        if (!k || numbers.data[k] != numbers.data[k - 1])
            gr_str_addn(out, text + piece->at, piece->end - piece->at);
    }
    gr_vec_free(&numbers);
    return ok && !out->oom;
}

gr_status gr_pieces_cut(const Pieces *p, const char *text, const char *kernel, StrBuf *out, gr_error *err) {
    const Needs wanted = {.kernel = kernel};
    const Needs *needs = bsearch(&wanted, p->needs, p->n_kernels, sizeof wanted, by_kernel);
    if (!needs)
        return gr_fail(err, GR_ERR_NOT_FOUND, "there is no kernel %s", kernel);
    gr_str_addn(out, text, p->begin);
    return put_pieces(p, text, needs, out) ? GR_OK : gr_no_memory(err);
}
