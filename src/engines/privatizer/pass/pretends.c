// SPDX-License-Identifier: Apache-2.0
// pretends — what must not be done as often as passes run, and in what passes must not differ: what the program prints,
// it prints once; a thread whose assertion fails ends; a thread's clock is its own.
#include "engines/privatizer/pass/code.h"

#include <stdio.h>

gr_status gr_code_call(const Code *c, PtxStmt *s) {
    PtxInstr *i = s->instr;
    const char *name = gr_calls_instead(i->callee);
    PtxCallParts parts = gr_ptx_call_parts(i);
    char text[64];
    if (!name)
        return GR_OK;
    snprintf(text, sizeof text, "__gr%s_%s", c->suffix, name);
    PtxFunc *f = gr_ptx_find_func(c->f->module, text);
    if (!f)
        return gr_fail(c->err, GR_ERR_INTERNAL, "%s: there is no function %s", c->f->name, text);
    if (i->callee->n_rets == 0) {
        PtxOperand ops[2] = {gr_ptx_label_operand(c->leaves),
                             i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0}};
        GR_CODE_OPS(c, s, ops, i->guard ? 2 : 1, "%sbra $0;",
                    !i->guard          ? ""
                    : i->guard_negated ? "@!$1 "
                                       : "@$1 ");
    }
    for (unsigned k = 0; k < i->n_operands; k++)
        if (&i->operands[k] == parts.callee)
            i->operands[k].text = f->name;
    i->callee = f;
    return GR_OK;
}

gr_status gr_code_clock(const Code *c, PtxStmt *s, unsigned half) {
    static const char *const texts[] = {"%s mov.b64 $0, %s; %s",
                                        "%s { .reg .b32 high; mov.b64 {$0, high}, %s; } %s",
                                        "%s { .reg .b32 low; mov.b64 {low, $0}, %s; } %s"};
    PtxInstr *i = s->instr;
    PtxOperand ops[2] = {i->operands[0], i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0}};
    PtxLabel *behind = gr_ptx_new_label(c->f);
    if (i->guard) {
        PtxOperand to[2] = {gr_ptx_label_operand(behind), ops[1]};
        GR_CODE_OPS(c, s, to, 2, i->guard_negated ? "@$1 bra $0;" : "@!$1 bra $0;");
    }
    GR_CODE_OPS(c, s, ops, 1, texts[half], "", c->clock->name, "");
    GR_CODE(c, s, "add.u64 %s, %s, 1000;", c->clock->name, c->clock->name);
    gr_ptx_insert_label(c->f, s, behind);
    s->kind = PTX_RAW;
    s->text = "";
    return GR_OK;
}
