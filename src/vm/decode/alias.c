// SPDX-License-Identifier: Apache-2.0
// alias — registers that need neither a slot nor an instruction: those whose one definition is a plain move or load of
// a parameter. The decoder reads the source wherever such a register is read. A source that never changes may be read
// anywhere, as what a register holds before its definition is undefined. A source that is a register must hold the same
// until the last read: its own definition is the only one, too, and dominates the move, which dominates all reads.
// (Compilers write moves that do not: `last = value;` in one branch of a loop, read after the loop.)
#include "vm/core/decode.h"
#include "vm/decode/forms.h"

#include <stdlib.h>

// ---- Where registers are written, and whether that comes before they are read -----------------------------------

typedef struct Place {
    uint32_t block, at; // `at`: number of the statement in the order of the text
} Place;

// In the tree of dominators: a block dominates the blocks from `first` to before `end`.
typedef struct Span {
    uint32_t first, end;
} Span;

typedef struct Defs {
    Decoder *d;
    Place here;
    Place *place; // by register index: of its last definition
    bool *early;  // by register index: read somewhere that its one definition does not dominate
    Span *span;   // by block; empty for blocks that nothing reaches
} Defs;

// Numbers the tree in preorder: the size of each subtree first, which a block's `end` holds meanwhile.
static void number_dominators(const Cfg *g, Span *span) {
    for (uint32_t k = g->n_order; k-- > 0;) {
        const CfgBlock *b = &g->blocks[g->order[k]];
        span[b->id].end++;
        if (b->idom != UINT32_MAX)
            span[b->idom].end += span[b->id].end;
    }
    for (uint32_t k = 0; k < g->n_order; k++) {
        const CfgBlock *b = &g->blocks[g->order[k]];
        Span *s = &span[b->id];
        uint32_t size = s->end;
        if (b->idom != UINT32_MAX) { // the parent's `end` runs over its children
            s->first = span[b->idom].end;
            span[b->idom].end += size;
        }
        s->end = s->first + 1;
    }
}

static bool dominates(const Defs *w, Place a, Place b) {
    const Span *x = &w->span[a.block], *y = &w->span[b.block];
    return a.block == b.block ? a.at < b.at : x->first < y->first && y->first < x->end;
}

static void note_def(Defs *w, const PtxOperand *o) {
    if (o->kind == PTX_O_REG) {
        w->d->defs[o->reg->index]++;
        w->place[o->reg->index] = w->here;
    }
    if (o->kind != PTX_O_ADDRESS)
        for (unsigned k = 0; k < o->n_sub; k++)
            note_def(w, &o->sub[k]);
}

static void note_defs(Defs *w, const PtxInstr *i) {
    // Registers may stand among a call's results.
    bool all =
        i->op == PTX_OP_CALL || i->op == PTX_OP_UNKNOWN || i->op == PTX_OP_BAR || i->op == PTX_OP_BARRIER;
    bool none = !all && (gr_ptx_op_flags(i->op) & PTX_F_NO_DST);
    for (unsigned k = 0; k < i->n_operands && !none && (all || k == 0); k++)
        note_def(w, &i->operands[k]);
}

static void note_reg(Defs *w, const PtxReg *r) {
    const Place *p = &w->place[r->index];
    if (w->d->defs[r->index] == 1 && p->at != w->here.at && !dominates(w, *p, w->here))
        w->early[r->index] = true;
}

static void note_reads(Defs *w, const PtxOperand *o) {
    if (o->kind == PTX_O_REG)
        note_reg(w, o->reg);
    for (unsigned k = 0; k < o->n_sub; k++)
        note_reads(w, &o->sub[k]);
}

static void note_read(Defs *w, const PtxInstr *i) {
    if (i->guard)
        note_reg(w, i->guard);
    for (unsigned k = 0; k < i->n_operands; k++)
        note_reads(w, &i->operands[k]);
}

static void each_instr(Defs *w, void (*note)(Defs *, const PtxInstr *)) {
    const Cfg *g = &w->d->cfg;
    w->here = (Place){0};
    for (uint32_t b = 0; b + 1 < g->n_blocks; b++) {
        w->here.block = b;
        for (const PtxStmt *s = g->blocks[b].first; s;
             s = s == g->blocks[b].last ? NULL : s->next, w->here.at++)
            if (s->kind == PTX_INSTR)
                note(w, s->instr);
    }
}

// ---- Aliases ---------------------------------------------------------------------------------------------------

static bool is_param_space(PtxSpace s) {
    return s == PTX_PARAM || s == PTX_PARAM_ENTRY || s == PTX_PARAM_FUNC;
}

// ld.param of a formal parameter at a constant address.
static bool alias_param(Decoder *d, const PtxInstr *i) {
    if (i->op != PTX_OP_LD || !is_param_space(i->space) || i->n_operands < 2)
        return false;
    const PtxOperand *a = &i->operands[1];
    PtxType t = i->type[0];
    if (a->kind != PTX_O_ADDRESS || a->n_sub != 1 || a->sub[0].kind != PTX_O_VAR || !gr_ptx_type_bits(t) ||
        t == PTX_PRED || gr_ptx_type_bits(t) > 64)
        return false;
    uint32_t at, size = gr_ptx_type_bits(t) / 8;
    const PtxVar *v = a->sub[0].var;
    bool kernel = gr_vm_kernel_param_offset(d->f, v, &at);
    int64_t offset = a->offset + a->sub[0].offset;
    if (!kernel) { // a function's: only whole scalars have the layout of a register
        bool formal = false;
        for (uint32_t k = 0; k < d->f->ptx->n_params; k++)
            formal |= d->f->ptx->params[k] == v;
        if (!formal || gr_vm_is_spilled(d, v) || i->vec > 1 || offset || gr_vm_var_size(v) != size ||
            size < 2)
            return false;
    } else if (offset < 0 || (uint64_t)offset + (uint64_t)size * (i->vec ? i->vec : 1) > gr_vm_var_size(v))
        return false;
    PtxOperand tmp[8];
    unsigned n;
    const PtxOperand *e = gr_vm_elements(d, &i->operands[0], tmp, &n);
    for (unsigned k = 0; k < n && k < 8; k++) {
        if (e[k].kind != PTX_O_REG || e[k].elem || e[k].reg->vec > 1 || e[k].reg->is_param ||
            d->defs[e[k].reg->index] != 1)
            continue;
        uint32_t width = gr_vm_lane_bytes(e[k].reg->type);
        if (width == 0 || width > 8 || width < size || (!kernel && width != size) || a->sub[0].offset)
            continue;
        d->alias[e[k].reg->index] = (VmAliasInfo){.source = a, .type = t, .param = true, .elem = (uint8_t)k};
    }
    return true;
}

static void alias_move(const Defs *w, const PtxInstr *i) {
    Decoder *d = w->d;
    bool cvta = i->op == PTX_OP_CVTA && (i->space == PTX_GLOBAL || i->space == PTX_CONST ||
                                         i->space2 == PTX_GLOBAL || i->space2 == PTX_CONST);
    if ((i->op != PTX_OP_MOV && !cvta) || i->n_operands != 2)
        return;
    const PtxOperand *o = &i->operands[0], *s = &i->operands[1];
    if (o->kind != PTX_O_REG || o->elem || o->text || o->reg->vec > 1 || o->reg->is_param ||
        d->defs[o->reg->index] != 1)
        return;
    uint32_t width = gr_vm_lane_bytes(o->reg->type);
    PtxType t = i->type[0];
    if (gr_vm_lane_bytes(t) != width || (t != PTX_PRED && gr_ptx_type_bits(t) < 16) || width > 8)
        return;
    VmFill fill;
    switch (s->kind) {
    case PTX_O_REG:
        if (s->elem || s->text || s->negated || s->reg->vec > 1 || gr_vm_lane_bytes(s->reg->type) != width ||
            d->defs[s->reg->index] != 1 || w->early[o->reg->index] ||
            !dominates(w, w->place[s->reg->index], w->here))
            return;
        break;
    case PTX_O_INT:
    case PTX_O_F32:
    case PTX_O_F64: break;
    case PTX_O_VAR:
        if (s->var->space == PTX_PARAM || is_param_space(s->var->space))
            return;
        break;
    case PTX_O_SREG:
        if (!gr_vm_static_sreg(d, s->text, &fill))
            return;
        break;
    default: return;
    }
    d->alias[o->reg->index] = (VmAliasInfo){.source = s, .type = t};
}

static void note_alias(Defs *w, const PtxInstr *i) {
    if (!i->guard && gr_vm_form_allows(i) && !alias_param(w->d, i))
        alias_move(w, i);
}

// A chain of moves that bites its own tail stays as it is: following it must end.
static void break_circles(const Decoder *d, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        uint32_t at = k, steps = 0;
        while (d->alias[at].source && !d->alias[at].param && d->alias[at].source->kind == PTX_O_REG &&
               steps++ < 64)
            at = d->alias[at].source->reg->index;
        if (steps > 64 || (steps && at == k))
            d->alias[k].source = NULL;
    }
}

bool gr_vm_find_aliases(Decoder *d) {
    uint32_t n = d->f->ptx->n_regs;
    d->slots = malloc((n + 1) * sizeof *d->slots);
    d->defs = calloc(n + 1, sizeof *d->defs);
    d->alias = calloc(n + 1, sizeof *d->alias);
    Defs w = {.d = d};
    w.place = calloc(n + 1, sizeof *w.place);
    w.early = calloc(n + 1, sizeof *w.early);
    w.span = calloc(d->cfg.n_blocks, sizeof *w.span);
    bool ok = d->slots && d->defs && d->alias && w.place && w.early && w.span;
    for (uint32_t k = 0; k < n && ok; k++)
        d->slots[k] = VM_NO_SLOT;
    if (ok) {
        number_dominators(&d->cfg, w.span);
        each_instr(&w, note_defs);
        each_instr(&w, note_read);
        each_instr(&w, note_alias);
        break_circles(d, n);
    }
    free(w.place);
    free(w.early);
    free(w.span);
    return ok;
}
