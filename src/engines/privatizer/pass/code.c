// SPDX-License-Identifier: Apache-2.0
// code — inserted text, the address of an access, and the access once more.
#include "engines/privatizer/pass/code.h"

#include <stdarg.h>
#include <stdio.h>

const char *gr_privatizer_control_name(const char *suffix, char *buf, size_t size) {
    snprintf(buf, size, "__gr%s_control", suffix);
    return buf;
}

gr_status gr_code_put(const Code *c, PtxStmt *at, const PtxOperand *ops, unsigned n_ops, const char *fmt,
                      ...) {
    char text[2048];
    va_list words;
    va_start(words, fmt);
    int n = vsnprintf(text, sizeof text, fmt, words);
    va_end(words);
    if (n < 0 || (size_t)n >= sizeof text)
        return gr_fail(c->err, GR_ERR_INTERNAL, "%s: code of the privatizer is too long", c->f->name);
    return gr_ptx_insert(c->f, at, 0, text, ops, n_ops, NULL, c->err);
}

PtxOperand *gr_code_address_of(PtxInstr *i) {
    for (unsigned k = 0; k < i->n_operands; k++)
        if (i->operands[k].kind == PTX_O_ADDRESS)
            return &i->operands[k];
    return NULL;
}

gr_status gr_code_address(const Code *c, PtxStmt *at, const PtxOperand *address, PtxReg **out) {
    PtxOperand base = address->n_sub ? address->sub[0] : gr_ptx_int_operand(0);
    *out = gr_ptx_new_reg(c->f, PTX_B64);
    if (base.kind == PTX_O_REG && gr_ptx_type_bits(base.reg->type) == 32) {
        PtxReg *low = gr_ptx_new_reg(c->f, PTX_B32);
        return gr_code_put(c, at, &base, 1, "add.s32 %s, $0, %lld; cvt.u64.u32 %s, %s;", low->name,
                           (long long)address->offset, (*out)->name, low->name);
    }
    return gr_code_put(c, at, &base, 1, "mov.b64 %s, $0; add.s64 %s, %s, %lld;", (*out)->name, (*out)->name,
                       (*out)->name, (long long)address->offset);
}

void gr_code_change_space(PtxInstr *i) {
    unsigned n = 0;
    for (unsigned k = 0; k < i->n_mods; k++) {
        PtxMod id = i->mods[k].id;
        if (id != PTX_MOD_nc && id != PTX_MOD_shared && id != PTX_MOD_shared__cta)
            i->mods[n++] = i->mods[k];
    }
    i->n_mods = (uint16_t)n;
    gr_ptx_instr_summarize(i);
}

gr_status gr_code_set_address(const Code *c, PtxOperand *address, PtxReg *to, int64_t offset) {
    PtxOperand *sub = GR_NEW(&c->f->module->arena, PtxOperand);
    GR_NEED(sub, c->err);
    *sub = gr_ptx_reg_operand(to);
    *address = (PtxOperand){.kind = PTX_O_ADDRESS, .n_sub = 1, .sub = sub, .offset = offset};
    return GR_OK;
}

gr_status gr_code_own(const Code *c, PtxStmt *s, PtxReg *holds, PtxReg **over) {
    const PtxInstr *i = s->instr;
    *over = holds;
    if (!i->guard)
        return GR_OK;
    PtxOperand guard = gr_ptx_reg_operand(i->guard);
    *over = gr_ptx_new_reg(c->f, PTX_PRED);
    return gr_code_put(c, s, &guard, 1,
                       "{ .reg .pred own; %s.pred own, $0; and.pred %s, %s, own; not.pred own, own; "
                       "or.pred %s, %s, own; }",
                       i->guard_negated ? "not" : "mov", holds->name, holds->name, (*over)->name,
                       holds->name);
}

gr_status gr_code_again(const Code *c, PtxStmt *s, PtxReg *guard, PtxReg *at, const PtxOperand *destination) {
    gr_status st = GR_OK;
    PtxInstr *i = s->instr;
    PtxOperand *address = gr_code_address_of(i), own = i->operands[0], to = gr_ptx_reg_operand(at);
    PtxReg *kept = i->guard;
    bool negated = i->guard_negated;
    StrBuf text = {0};
    PtxOperand was = *address;
    *address = (PtxOperand){.kind = PTX_O_ADDRESS, .n_sub = 1, .sub = &to};
    if (destination)
        i->operands[0] = *destination;
    i->guard = guard;
    i->guard_negated = false;
    gr_ptx_print_stmt(s, &text);
    *address = was;
    i->operands[0] = own;
    i->guard = kept;
    i->guard_negated = negated;
    GR_TRY(!text.oom ? GR_OK : gr_no_memory(c->err));
    GR_TRY(gr_ptx_insert(c->f, s, 0, text.data, NULL, 0, NULL, c->err));
done:
    gr_str_free(&text);
    return st;
}
