// SPDX-License-Identifier: Apache-2.0
// flat — inlining: every call of a function whose body is there becomes that body.
#include "engines/verifier/kernel/flat.h"

#include <stdlib.h>

enum { MOST_STATEMENTS = 150000, DEEPEST = 64 };

static void append(KFlat *f, PtxStmt *s) {
    s->prev = f->body.last;
    s->next = NULL;
    if (f->body.last)
        f->body.last->next = s;
    else
        f->body.first = s;
    f->body.last = s;
    f->n_statements++;
}

// ---- Places ------------------------------------------------------------------------------------------------------

// Without source lines, in PTX of another file than the kernel's: that file's line, as a line alone is the kernel's.
static const GrPlace *ptx_place(KFlat *f, KFrame *frame, uint32_t line) {
    if (frame->func->module == f->module)
        return frame->call;
    uint64_t key = (uint64_t)1 << 40 | line;
    GrPlace *p = gr_map_get_u64(&frame->places, key);
    if (p)
        return p;
    if (!(p = GR_NEW(f->arena, GrPlace)) || !gr_map_put_u64(&frame->places, key, p))
        return NULL;
    *p = (GrPlace){frame->func->module->name, frame->func->name, line, frame->call};
    return p;
}

static const GrPlace *place_of(KFlat *f, KFrame *frame, const PtxLoc *loc, uint32_t ptx_line) {
    if (!loc)
        return ptx_place(f, frame, ptx_line);
    GrPlace *p = gr_map_get_u64(&frame->places, loc->id + 1);
    if (p)
        return p;
    if (!(p = GR_NEW(f->arena, GrPlace)) || !gr_map_put_u64(&frame->places, loc->id + 1, p))
        return NULL;
    p->file = gr_ptx_file(frame->func->module, loc->file);
    p->line = loc->line;
    p->function = loc->inlined_at ? loc->function : frame->parent ? frame->func->name : NULL;
    p->inlined_at = loc->inlined_at ? place_of(f, frame, loc->inlined_at, ptx_line) : frame->call;
    return p;
}

// ---- Names in frames ----------------------------------------------------------------------------------------------

static PtxLabel *new_label(KFlat *f, const char *name) {
    PtxLabel *l = GR_NEW(f->arena, PtxLabel);
    if (l) {
        l->name = name;
        l->index = f->n_labels++;
    }
    return l;
}

static PtxLabel *label_of(KFlat *f, KFrame *frame, const PtxLabel *l) {
    if (!l)
        return NULL;
    PtxLabel *own = gr_map_get_u64(&frame->labels, (uintptr_t)l);
    if (own)
        return own;
    own = new_label(f, l->name);
    return own && gr_map_put_u64(&frame->labels, (uintptr_t)l, own) ? own : NULL;
}

static KVar *new_var(KFlat *f, const KFrame *frame, const PtxVar *v) {
    KVar *k = GR_NEW(f->arena, KVar);
    if (!k || !gr_vec_push(&f->vars, k))
        return NULL;
    k->id = (uint32_t)f->vars.len - 1;
    k->var = v;
    k->frame = frame;
    k->local = !v || v->space == PTX_LOCAL;
    k->base = gr_symbol(f->t, GR_SYM_OBJECT, GR_SYM_THREAD, 64, v ? v->name : "alloca");
    if (!k->base)
        return NULL;
    k->base->owner = k;
    return k;
}

KVar *gr_flat_var(KFlat *f, const KFrame *frame, const PtxVar *v) {
    KVar *k = gr_map_get_u64(&frame->vars, (uintptr_t)v);
    if (k)
        return k;
    k = new_var(f, frame, v);
    return k && gr_map_put_u64((Map *)(uintptr_t)&frame->vars, (uintptr_t)v, k) ? k : NULL;
}

KVar *gr_flat_alloca(KFlat *f, const KStmt *s) {
    KVar *k = gr_map_get_u64(&s->frame->vars, (uintptr_t)s->origin);
    if (k)
        return k;
    k = new_var(f, s->frame, NULL);
    return k && gr_map_put_u64((Map *)(uintptr_t)&s->frame->vars, (uintptr_t)s->origin, k) ? k : NULL;
}

const KVar *gr_flat_piece(const KVar *v, int64_t *at) {
    const KVar *whole = v->whole ? v->whole : v;
    int64_t byte = *at + (v->whole ? v->start : 0);
    if (byte < 0 || !whole->pieces.len)
        return v;
    size_t k = whole->pieces.len - 1;
    while (k && whole->pieces.data[k]->start > byte)
        k--;
    *at = byte - whole->pieces.data[k]->start;
    return whole->pieces.data[k];
}

static bool cut(KFlat *f, KVar *whole, int64_t at) {
    size_t k = 0;
    while (k < whole->pieces.len && whole->pieces.data[k]->start < at)
        k++;
    if (k < whole->pieces.len && whole->pieces.data[k]->start == at)
        return true;
    KVar *v = new_var(f, whole->frame, whole->var);
    if (!v || !gr_vec_push(&whole->pieces, v))
        return false;
    for (size_t n = whole->pieces.len - 1; n > k; n--)
        whole->pieces.data[n] = whole->pieces.data[n - 1];
    whole->pieces.data[k] = v;
    v->whole = whole;
    v->start = at;
    return true;
}

bool gr_flat_is_stack(const PtxOperand *o) {
    return o->kind == PTX_O_REG && (!strcmp(o->reg->name, "%SP") || !strcmp(o->reg->name, "%SPL"));
}

// The frame's local memory in pieces.
bool gr_flat_cut(KFlat *f, const KFrame *frame) {
    KVar *whole = NULL;
    for (const PtxStmt *s = frame->func->first; s; s = s->next)
        if (s->kind == PTX_DECL_VAR && s->var->space == PTX_LOCAL) {
            if (whole) // more than one: not the shape that is meant
                return true;
            whole = gr_flat_var(f, frame, s->var);
        }
    if (!whole || whole->pieces.len)
        return true;
    for (const PtxStmt *s = frame->func->first; s; s = s->next) {
        const PtxInstr *i = s->kind == PTX_INSTR ? s->instr : NULL;
        if (i && i->op == PTX_OP_ADD && i->n_operands == 3 && gr_flat_is_stack(&i->operands[1]) &&
            i->operands[2].kind == PTX_O_INT && i->operands[2].bits < whole->var->size &&
            (!cut(f, whole, 0) || !cut(f, whole, (int64_t)i->operands[2].bits)))
            return false;
    }
    for (size_t k = 0; k < whole->pieces.len; k++)
        whole->pieces.data[k]->end =
            k + 1 < whole->pieces.len ? whole->pieces.data[k + 1]->start : (int64_t)whole->var->size;
    return true;
}

static KFrame *new_frame(KFlat *f, const PtxFunc *func, const KFrame *parent, const GrPlace *call) {
    KFrame *k = GR_NEW(f->arena, KFrame);
    if (!k || !gr_vec_push(&f->frames, k))
        return NULL;
    k->func = func;
    k->parent = parent;
    k->call = call;
    k->id = (uint32_t)f->frames.len - 1;
    k->depth = parent ? parent->depth + 1 : 0;
    k->base = f->n_regs;
    f->n_regs += func->n_regs;
    for (uint32_t r = 0; r < func->n_regs; r++)
        if (!gr_vec_push(&f->reg_names, func->regs[r]->name))
            return NULL;
    return k;
}

// ---- Statements ---------------------------------------------------------------------------------------------------

static KStmt *new_stmt(KFlat *f, KFrame *frame, const PtxStmt *from) {
    KStmt *s = GR_NEW(f->arena, KStmt);
    if (!s)
        return NULL;
    s->stmt = *from;
    s->origin = from;
    s->frame = frame;
    s->place = place_of(f, frame, from->loc, from->line);
    append(f, &s->stmt);
    if (from->kind == PTX_INSTR && !gr_vec_push(&f->stmts, s))
        return NULL;
    s->id = (uint32_t)f->stmts.len - 1;
    return s;
}

static KStmt *jump(KFlat *f, KFrame *frame, const PtxStmt *from, PtxLabel *to, bool negate) {
    KStmt *s = new_stmt(f, frame, from);
    PtxInstr *i = GR_NEW(f->arena, PtxInstr);
    PtxOperand *o = GR_NEW(f->arena, PtxOperand);
    if (!s || !i || !o || !to)
        return NULL;
    *o = gr_ptx_label_operand(to);
    *i = (PtxInstr){.op = PTX_OP_BRA,
                    .opcode = "bra",
                    .n_operands = 1,
                    .operands = o,
                    .guard = from->instr->guard,
                    .guard_negated = from->instr->guard_negated != negate,
                    .vec = 1};
    s->stmt.instr = i;
    return s;
}

static bool put_label(KFlat *f, KFrame *frame, const PtxStmt *from, PtxLabel *l) {
    KStmt *s = GR_NEW(f->arena, KStmt);
    if (!s || !l)
        return false;
    s->stmt = (PtxStmt){.kind = PTX_LABEL_DEF, .label = l, .line = from->line, .loc = from->loc};
    s->origin = from;
    s->frame = frame;
    l->stmt = &s->stmt;
    append(f, &s->stmt);
    return true;
}

// The branch of a frame, to labels of that frame.
static bool branch(KFlat *f, KFrame *frame, const PtxStmt *from) {
    const PtxInstr *was = from->instr;
    KStmt *s = new_stmt(f, frame, from);
    PtxInstr *i = GR_NEW(f->arena, PtxInstr);
    PtxOperand *o = GR_NEW_ARRAY(f->arena, PtxOperand, was->n_operands + 1);
    if (!s || !i || !o)
        return false;
    *i = *was;
    i->operands = o;
    for (unsigned k = 0; k < was->n_operands; k++) {
        o[k] = was->operands[k];
        if (o[k].label && !(o[k].label = label_of(f, frame, o[k].label)))
            return false;
    }
    s->stmt.instr = i;
    return true;
}

static bool targets(KFlat *f, KFrame *frame, const PtxStmt *from) {
    KStmt *s = GR_NEW(f->arena, KStmt);
    PtxLabel *l = label_of(f, frame, from->label),
             **to = GR_NEW_ARRAY(f->arena, PtxLabel *, from->n_targets + 1);
    if (!s || !l || !to)
        return false;
    s->stmt = *from;
    s->origin = from;
    s->frame = frame;
    s->stmt.label = l;
    l->stmt = &s->stmt; // not in the list: it only holds the table
    for (uint32_t k = 0; from->targets && k < from->n_targets; k++)
        if (!(to[k] = label_of(f, frame, from->targets[k])))
            return false;
    s->stmt.targets = from->targets ? to : NULL;
    return true;
}

// ---- Calls ----------------------------------------------------------------------------------------------------------

static bool body(KFlat *f, KFrame *frame, const char **limit);

// *name: what the linked modules say of it; NULL: nothing.
static const PtxFunc *callee_of(const KFlat *f, const KFrame *frame, const PtxInstr *i,
                                const GrLinkedName **name) {
    PtxCallParts parts = gr_ptx_call_parts(i);
    const PtxModule *m = frame->func->module;
    const PtxFunc *c = i->callee;
    if (!c && parts.callee && parts.callee->kind == PTX_O_FUNC)
        c = gr_ptx_find_func(m, parts.callee->text);
    *name = c ? gr_linked_func(f->linked, c) : NULL;
    if (*name)
        c = (*name)->func;
    else if (c && !c->has_body && c->name) {
        const PtxFunc *there = gr_ptx_find_func(m, c->name);
        c = there ? there : c;
    }
    return c && c->alias_of ? c->alias_of : c;
}

static const char *why_not(const KFlat *f, const KFrame *frame, const PtxFunc *c, const GrLinkedName *name) {
    if (!c)
        return "indirect call";
    for (const KFrame *up = frame; up; up = up->parent)
        if (up->func == c)
            return "recursion";
    if (!c->has_body)
        return c->name;
    if (name && name->other)
        return "multiple definition";
    if (c->reg_params)
        return "a function with parameters in registers";
    return frame->depth >= DEEPEST || f->n_statements >= MOST_STATEMENTS ? "too much to inline" : NULL;
}

// Binds the callee's parameters to the caller's variables.
static bool bind(KFlat *f, KFrame *frame, KFrame *in, const PtxOperand *list, PtxVar **formal, uint32_t n) {
    if (!list)
        return n == 0;
    unsigned given = list->kind == PTX_O_PAREN ? list->n_sub : 1;
    for (uint32_t k = 0; k < n && k < given; k++) {
        const PtxOperand *o = list->kind == PTX_O_PAREN ? &list->sub[k] : list;
        KVar *v = o->kind == PTX_O_VAR && o->var ? gr_flat_var(f, frame, o->var) : NULL;
        if (!v || !gr_map_put_u64(&in->vars, (uintptr_t)formal[k], v))
            return false;
    }
    return given >= n;
}

static bool call(KFlat *f, KFrame *frame, const PtxStmt *from, const char **limit) {
    const GrLinkedName *name;
    const PtxFunc *c = callee_of(f, frame, from->instr, &name);
    const char *why = why_not(f, frame, c, name);
    if (why) {
        KStmt *s = new_stmt(f, frame, from);
        if (s) {
            s->gap = why;
            s->missing = c && !c->has_body ? c : NULL;
            s->twice = name && name->other ? name : NULL;
        }
        return s != NULL;
    }
    PtxLabel *after = new_label(f, "return");
    PtxCallParts parts = gr_ptx_call_parts(from->instr);
    KFrame *in = new_frame(f, c, frame, place_of(f, frame, from->loc, from->line));
    if (!in || !after)
        return false;
    if (!bind(f, frame, in, parts.params, c->params, c->n_params) ||
        !bind(f, frame, in, parts.rets, c->rets, c->n_rets)) {
        KStmt *s = new_stmt(f, frame, from);
        if (s)
            s->gap = "a call whose parameters do not fit";
        return s != NULL;
    }
    if (from->instr->guard && !jump(f, frame, from, after, true))
        return false;
    if (!gr_map_put_u64(&in->labels, 0, after)) // where its returns go
        return false;
    return body(f, in, limit) && put_label(f, frame, from, after);
}

static bool body(KFlat *f, KFrame *frame, const char **limit) {
    for (const PtxStmt *s = frame->func->first; s; s = s->next) {
        bool ok = true;
        if (f->n_statements > 2 * MOST_STATEMENTS) {
            *limit = "too many statements after inlining";
            return false;
        }
        if (s->kind == PTX_LABEL_DEF)
            ok = put_label(f, frame, s, label_of(f, frame, s->label));
        else if (s->kind == PTX_TARGETS)
            ok = targets(f, frame, s);
        else if (s->kind != PTX_INSTR)
            continue;
        else if (s->instr->op == PTX_OP_CALL)
            ok = call(f, frame, s, limit);
        else if (s->instr->op == PTX_OP_RET && frame->parent)
            ok = jump(f, frame, s, gr_map_get_u64(&frame->labels, 0), false) != NULL;
        else if (s->instr->op == PTX_OP_BRA || s->instr->op == PTX_OP_BRX)
            ok = branch(f, frame, s);
        else
            ok = new_stmt(f, frame, s) != NULL;
        if (!ok)
            return false;
    }
    return true;
}

// ---- All ------------------------------------------------------------------------------------------------------------

// Intervals of the dominator tree: children of each block in turn, without recursion.
static bool number_tree(KFlat *f) {
    uint32_t n = f->cfg.n_blocks, time = 0;
    f->tree_in = GR_NEW_ARRAY(f->arena, uint32_t, n);
    f->tree_out = GR_NEW_ARRAY(f->arena, uint32_t, n);
    uint32_t *child = GR_NEW_ARRAY(f->arena, uint32_t, n), *sibling = GR_NEW_ARRAY(f->arena, uint32_t, n);
    if (!f->tree_in || !f->tree_out || !child || !sibling)
        return false;
    for (uint32_t k = 0; k < n; k++)
        child[k] = sibling[k] = UINT32_MAX;
    for (uint32_t k = f->cfg.n_order; k-- > 1;) {
        uint32_t b = f->cfg.order[k], up = f->cfg.blocks[b].idom;
        sibling[b] = child[up];
        child[up] = b;
    }
    for (uint32_t k = 0; k < n; k++)
        f->tree_in[k] = f->tree_out[k] = UINT32_MAX - k; // what is not reached dominates nothing
    uint32_t b = f->cfg.order[0];
    f->tree_in[b] = time++;
    for (;;) {
        if (child[b] != UINT32_MAX) {
            uint32_t c = child[b];
            child[b] = sibling[c]; // taken
            f->tree_in[c] = time++;
            b = c;
            continue;
        }
        f->tree_out[b] = time++;
        if (b == f->cfg.order[0])
            return true;
        b = f->cfg.blocks[b].idom;
    }
}

gr_status gr_flat_make(KFlat *f, const GrLinked *l, const PtxFunc *kernel, gr_error *err) {
    f->linked = l;
    f->module = kernel->module;
    f->body = (PtxFunc){.name = kernel->name, .is_entry = true, .has_body = true, .module = kernel->module};
    KFrame *top = new_frame(f, kernel, NULL, NULL);
    GR_NEED(top, err);
    for (uint32_t k = 0; k < kernel->n_params; k++) {
        KVar *v = gr_flat_var(f, top, kernel->params[k]);
        GR_NEED(v, err);
        v->is_param = true;
        v->param = k;
    }
    const char *limit = NULL;
    if (!body(f, top, &limit))
        return limit ? gr_fail(err, GR_ERR_LIMIT, "%s: %s", kernel->name, limit) : gr_no_memory(err);
    GR_MUST(gr_cfg_build(&f->body, f->arena, &f->cfg, err));
    for (uint32_t k = 0; k + 1 < f->cfg.n_blocks; k++)
        for (PtxStmt *s = f->cfg.blocks[k].first; s; s = s == f->cfg.blocks[k].last ? NULL : s->next)
            ((KStmt *)s)->block = k;
    return number_tree(f) ? GR_OK : gr_no_memory(err);
}

void gr_flat_free(KFlat *f) {
    for (size_t k = 0; k < f->frames.len; k++) {
        gr_map_free(&f->frames.data[k]->labels);
        gr_map_free(&f->frames.data[k]->vars);
        gr_map_free(&f->frames.data[k]->places);
    }
    for (size_t k = 0; k < f->vars.len; k++)
        gr_vec_free(&f->vars.data[k]->pieces);
    for (size_t k = 0; k < f->loops.len; k++)
        gr_vec_free(&f->loops.data[k]->latches);
    gr_vec_free(&f->frames);
    gr_vec_free(&f->vars);
    gr_vec_free(&f->stmts);
    gr_vec_free(&f->reg_names);
    gr_vec_free(&f->loops);
}
