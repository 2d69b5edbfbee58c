// SPDX-License-Identifier: Apache-2.0
#include "ptx/defuse.h"

static gr_status add_use(DefUse *d, const PtxReg *r, PtxStmt *s, bool guard, gr_error *err) {
    if (!r || r->index >= d->n_regs)
        return GR_OK;
    Use *u = GR_NEW(&d->arena, Use);
    GR_NEED(u, err);
    *u = (Use){.next = d->regs[r->index].uses, .stmt = s, .guard = guard};
    d->regs[r->index].uses = u;
    return GR_OK;
}

// Registers of an operand; `def`: they are written, unless they stand inside brackets.
static gr_status walk_operand(DefUse *d, const PtxOperand *o, PtxStmt *s, bool def, gr_error *err) {
    if (o->kind == PTX_O_REG && def) {
        if (o->reg->index < d->n_regs)
            d->regs[o->reg->index].defs++;
    } else if (o->kind == PTX_O_REG) {
        GR_MUST(add_use(d, o->reg, s, false, err));
    }
    for (unsigned k = 0; k < o->n_sub; k++)
        GR_MUST(walk_operand(d, &o->sub[k], s, def && o->kind != PTX_O_ADDRESS, err));
    return GR_OK;
}

gr_status gr_defuse_build(const PtxFunc *f, DefUse *out, gr_error *err) {
    *out = (DefUse){.n_regs = f->n_regs};
    gr_arena_init(&out->arena);
    out->regs = GR_NEW_ARRAY(&out->arena, struct DefUseReg, f->n_regs ? f->n_regs : 1);
    GR_NEED(out->regs, err);
    for (PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted)
            continue;
        const PtxInstr *i = s->instr;
        GR_MUST(add_use(out, i->guard, s, true, err));
        bool has_dst = !(gr_ptx_op_flags(i->op) & PTX_F_NO_DST);
        for (unsigned k = 0; k < i->n_operands; k++)
            GR_MUST(walk_operand(out, &i->operands[k], s, k == 0 && has_dst, err));
    }
    return GR_OK;
}

void gr_defuse_free(DefUse *d) { gr_arena_free(&d->arena); }

bool gr_defuse_is_pure(const PtxInstr *i) {
    switch (i->op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
    case PTX_OP_NEG:
    case PTX_OP_ABS:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_CVT:
    case PTX_OP_MOV:
        return !i->guard && i->n_operands && i->operands[0].kind == PTX_O_REG &&
               !gr_ptx_instr_has(i, PTX_MOD_cc);
    default: return false;
    }
}
