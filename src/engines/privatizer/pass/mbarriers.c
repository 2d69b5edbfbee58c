// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/mbarriers.h"

#include "engines/privatizer/pass/code.h"

static bool has_other(const PtxInstr *i) {
    static const PtxMod others[] = {PTX_MOD_expect_tx, PTX_MOD_noComplete, PTX_MOD_shared__cluster,
                                    PTX_MOD_relaxed}; // relaxed: it orders nothing
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (gr_ptx_instr_has(i, others[k]))
            return true;
    return false;
}

GrMeeting gr_meeting_of(const PtxInstr *i) {
    static const struct {
        PtxMod mod;
        GrMeeting is;
        unsigned address, operands; // the number of the address, and how many there are at least
    } of[] = {{PTX_MOD_init, GR_MEETS_BEGINS, 0, 2},
              {PTX_MOD_inval, GR_MEETS_BEGINS, 0, 1},
              {PTX_MOD_arrive, GR_MEETS_ARRIVES, 1, 2},
              {PTX_MOD_test_wait, GR_MEETS_WAITS, 1, 3},
              {PTX_MOD_try_wait, GR_MEETS_WAITS, 1, 3}};
    if (i->op != PTX_OP_MBARRIER)
        return GR_MEETS_NOT;
    for (size_t k = 0; k < sizeof of / sizeof *of && !has_other(i) && i->n_mods; k++)
        if (i->mods[0].id == of[k].mod && i->n_operands >= of[k].operands &&
            i->operands[of[k].address].kind == PTX_O_ADDRESS && (!i->guard || of[k].is == GR_MEETS_BEGINS))
            return of[k].is;
    return GR_MEETS_OTHER;
}

// Where the object is in shared memory, in the new register *at.
static gr_status put_place(const Code *c, PtxStmt *s, const PtxOperand *address, PtxReg **at) {
    PtxReg *wide;
    *at = gr_ptx_new_reg(c->f, PTX_B32);
    GR_MUST(gr_code_address(c, s, address, &wide));
    if (!gr_is_shared_space(s->instr->space))
        GR_CODE(c, s, "cvta.to.shared.u64 %s, %s;", wide->name, wide->name);
    return gr_code_put(c, s, NULL, 0, "cvt.u32.u64 %s, %s;", (*at)->name, wide->name);
}

gr_status gr_code_begins(const Code *c, PtxStmt *s) {
    PtxInstr *i = s->instr;
    PtxReg *at, *n = gr_ptx_new_reg(c->f, PTX_B32), *first = gr_ptx_new_reg(c->f, PTX_PRED);
    PtxOperand ops[2] = {i->n_operands > 1 ? i->operands[1] : gr_ptx_int_operand(0),
                         i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0}};
    GR_MUST(put_place(c, s, &i->operands[0], &at));
    GR_CODE_OPS(c, s, ops, 2,
                "mov.b32 %s, $0; setp.eq%s.u32 %s, %s, 1%s%s; @%s call __gr%s_begins, (%s, %s, %s);", n->name,
                i->guard ? ".and" : "", first->name, c->pass->name, i->guard ? ", " : "",
                !i->guard          ? ""
                : i->guard_negated ? "!$1"
                                   : "$1",
                first->name, c->suffix, at->name, n->name, c->sequence->name);
    s->kind = PTX_RAW;
    s->text = "";
    return GR_OK;
}

gr_status gr_code_arrives(const Code *c, PtxStmt *s, const PtxReg *token) {
    PtxInstr *i = s->instr;
    PtxReg *at, *n = gr_ptx_new_reg(c->f, PTX_B32), *second = gr_ptx_new_reg(c->f, PTX_PRED);
    PtxOperand count = i->n_operands > 2 ? i->operands[2] : gr_ptx_int_operand(1);
    GR_MUST(put_place(c, s, &i->operands[1], &at));
    return gr_code_put(c, s, &count, 1,
                       "mov.b32 %s, $0; setp.eq.u32 %s, %s, 2; @%s mov.u32 %s, 0; call (%s), __gr%s_arrives, "
                       "(%s, %s, %s);",
                       n->name, second->name, c->pass->name, second->name, n->name, token->name, c->suffix,
                       at->name, n->name, c->sequence->name);
}

gr_status gr_code_token(const Code *c, PtxStmt *s, const PtxReg *token) {
    PtxOperand to = s->instr->operands[0];
    return to.kind != PTX_O_REG ? GR_OK : gr_code_put(c, s, &to, 1, "cvt.u64.u32 $0, %s;", token->name);
}

gr_status gr_code_is_over(const Code *c, PtxStmt *s, const PtxReg *over) {
    PtxInstr *i = s->instr;
    PtxReg *at, *which = gr_ptx_new_reg(c->f, PTX_B32), *is = gr_ptx_new_reg(c->f, PTX_B32);
    bool parity = gr_ptx_instr_has(i, PTX_MOD_parity);
    GR_MUST(put_place(c, s, &i->operands[1], &at));
    GR_CODE_OPS(c, s, &i->operands[2], 1, parity ? "mov.b32 %s, $0;" : "cvt.u32.u64 %s, $0;", which->name);
    return gr_code_put(c, s, NULL, 0, "call (%s), __gr%s_is_over, (%s, %s, %d, %s); setp.ne.u32 %s, %s, 0;",
                       is->name, c->suffix, at->name, which->name, parity, c->sequence->name, over->name,
                       is->name);
}
