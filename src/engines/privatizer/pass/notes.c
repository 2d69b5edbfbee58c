// SPDX-License-Identifier: Apache-2.0
// notes — what other units made of memory when a thread's atomic operation or strong load came there is nothing that
// private copies can tell. In pass 1 it is done for all units, and the thread notes the result; in pass 2 it has the
// same result again. So passes differ by races alone.
#include "engines/privatizer/pass/code.h"

#include <string.h>

gr_status gr_code_lost(const Code *c) {
    PtxOperand leaves = gr_ptx_label_operand(c->leaves);
    if (c->results) {
        gr_ptx_insert_label(c->f, NULL, c->full);
        GR_CODE_OPS(c, NULL, &leaves, 1, "call __gr%s_no_notes, (%s); bra $0;", c->suffix, c->pass->name);
    }
    gr_ptx_insert_label(c->f, NULL, c->over);
    // In pass 2 it does not go round again.
    GR_CODE(c, NULL, "mov.u32 %s, %d;", c->left->name, GR_LEFT_WILD);
    if (!c->known) // where it is told behind, and then found out in the other code
        GR_CODE(c, NULL, "call __gr%s_over;", c->suffix);
    gr_ptx_insert_label(c->f, NULL, c->leaves);
    return GR_OK;
}

// The destination in other registers, which nobody reads.
static PtxOperand no_destination(const Code *c, const PtxOperand *own) {
    PtxOperand other = *own;
    if (own->kind == PTX_O_REG)
        other.reg = gr_ptx_new_reg(c->f, own->reg->type);
    return other;
}

// Writes the result of pass 1, reads it in pass 2: a note of 8 bytes for each register.
static gr_status put_notes(const Code *c, PtxStmt *s, const PtxOperand *o, const PtxReg *first,
                           const PtxReg *second, const PtxReg *kept) {
    if (o->kind == PTX_O_VECTOR) {
        for (unsigned k = 0; k < o->n_sub; k++)
            GR_MUST(put_notes(c, s, &o->sub[k], first, second, kept));
        return GR_OK;
    }
    if (o->kind != PTX_O_REG)
        return GR_OK;
    unsigned bits = gr_ptx_type_bits(o->reg->type);
    return gr_code_put(c, s, o, 1,
                       "@%s st.global.b%u [%s], $0; @%s ld.global.b%u $0, [%s]; @%s add.u64 %s, %s, 8;",
                       first->name, bits, c->note->name, second->name, bits, c->note->name, kept->name,
                       c->note->name, c->note->name);
}

gr_status gr_code_result(const Code *c, PtxStmt *s, PtxReg *to, PtxReg *common, PtxReg *kept) {
    PtxFunc *f = c->f;
    PtxReg *first = gr_ptx_new_reg(f, PTX_PRED), *second = gr_ptx_new_reg(f, PTX_PRED),
           *aside = gr_ptx_new_reg(f, PTX_PRED), *at = gr_ptx_new_reg(f, PTX_B64);
    PtxOperand full = gr_ptx_label_operand(c->full);
    bool loads = s->instr->op == PTX_OP_LD;
    // A vector has up to 8 elements.
    GR_CODE_OPS(c, s, &full, 1,
                "add.u64 %s, %s, 64; setp.gt.u64 %s, %s, %s; and.pred %s, %s, %s; @%s bra $0; "
                "setp.eq.u32 %s, %s, 1; not.pred %s, %s; and.pred %s, %s, %s; and.pred %s, %s, %s;",
                at->name, c->note->name, first->name, at->name, c->note_end->name, first->name, first->name,
                kept->name, first->name, first->name, c->pass->name, second->name, first->name, first->name,
                first->name, kept->name, second->name, second->name, kept->name);
    if (common) // in pass 1 the thread's own memory is updated once: aside, or as what is common
        GR_CODE(c, s,
                "setp.ne.u64 %s, %s, 0; selp.b64 %s, %s, %s, %s; or.pred %s, %s, %s; and.pred %s, "
                "%s, %s;",
                aside->name, common->name, at->name, common->name, to->name, aside->name, aside->name,
                aside->name, second->name, aside->name, aside->name, kept->name);
    else
        GR_CODE(c, s, "mov.b64 %s, %s; mov.pred %s, %s;", at->name, to->name, aside->name, second->name);
    if (!loads) {
        PtxOperand nobody = no_destination(c, &s->instr->operands[0]);
        GR_MUST(gr_code_again(c, s, aside, to, &nobody));
    }
    GR_MUST(gr_code_again(c, s, first, at, NULL));
    GR_MUST(put_notes(c, s, &s->instr->operands[0], first, second, kept));
    s->kind = PTX_RAW;
    s->text = "";
    return GR_OK;
}
