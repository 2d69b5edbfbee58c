// SPDX-License-Identifier: Apache-2.0
// spill — parameters of functions whose address is taken. They are in local memory (PTX ISA, mov: such a parameter is
// copied to the stack): a function begins by copying them there from the frame, where calls leave them. Clang passes
// structures by value so, and reads them by ld.param at an address in a register.
#include "vm/core/decode.h"
#include "vm/core/exec.h"

bool gr_vm_is_spilled(const Decoder *d, const PtxVar *v) {
    for (size_t k = 0; k < d->spilled.len; k++)
        if (d->spilled.data[k] == v)
            return true;
    return false;
}

bool gr_vm_find_spilled(Decoder *d) {
    const PtxFunc *f = d->f->ptx;
    for (const PtxStmt *s = f->first; s && !f->is_entry && !f->reg_params; s = s->next) {
        const PtxInstr *i = s->kind == PTX_INSTR && s->instr->op == PTX_OP_MOV ? s->instr : NULL;
        const PtxVar *v =
            i && i->n_operands == 2 && i->operands[1].kind == PTX_O_VAR ? i->operands[1].var : NULL;
        for (uint32_t k = 0; v && k < f->n_params; k++)
            if (f->params[k] == v && !gr_vm_is_spilled(d, v) && !gr_vec_push(&d->spilled, v))
                return false;
    }
    return true;
}

bool gr_vm_spill(Decoder *d) {
    for (size_t k = 0; k < d->spilled.len; k++) {
        const VmParamSlot *p = gr_vm_param_slot(d, d->spilled.data[k]);
        VmFill address;
        if (!p || !gr_vm_var_fill(d, d->spilled.data[k], 0, 8, &address))
            continue; // too large: what uses it is not understood
        uint32_t at = gr_vm_fill_slot(d, address);
        VmInsn *n = gr_vm_emit(d, gr_vm_x_spill, gr_vm_x_spill);
        if (!n)
            return false;
        n->a = p->offset;
        n->b = p->stride;
        n->c = at;
    }
    return true;
}
