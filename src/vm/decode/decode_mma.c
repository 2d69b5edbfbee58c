// SPDX-License-Identifier: Apache-2.0
// decode_mma — wmma.mma (PTX ISA 9.7.14.4.5) and mma.sync (9.7.14.5.14): a meeting of the lanes, and the product. Which
// shapes and types go together is in forms.def.
#include "vm/core/matrix.h"
#include "vm/exec/mma.h"

static const uint16_t *make_places(Decoder *d, const VmFragment *f, bool wmma, bool column) {
    uint16_t *out = GR_NEW_ARRAY(d->f->arena, uint16_t, (size_t)f->n * VM_LANES);
    for (unsigned l = 0; out && l < VM_LANES; l++)
        for (unsigned e = 0; e < f->n; e++)
            out[l * f->n + e] =
                (uint16_t)(wmma ? gr_vm_wmma_place(f, column, l, e) : gr_vm_mma_place(f, l, e));
    return out;
}

static bool read_operand(Decoder *d, const PtxOperand *o, bool result, bool wmma, bool column,
                         VmMmaOperand *x) {
    PtxOperand tmp[8];
    unsigned n;
    PtxType type = x->f.reg_bytes == 8 ? PTX_B64 : PTX_B32;
    const PtxOperand *e = gr_vm_elements(d, o, tmp, &n);
    if (n != x->f.written)
        return false;
    for (unsigned k = 0; k < x->f.regs; k++) {
        x->slot[k] = result ? gr_vm_dst(d, &e[k], type) : gr_vm_src(d, &e[k], type);
        if (x->slot[k] == VM_NO_SLOT)
            return false;
    }
    x->place = make_places(d, &x->f, wmma, column);
    return x->place != NULL;
}

// The element types of D, A, B and C; wmma.mma of f16 names those of D and C only.
static bool read_types(const PtxInstr *i, VmElement type[4]) {
    unsigned n = 0;
    for (unsigned k = 0; k < i->n_mods; k++) {
        VmElement e;
        if (!gr_vm_element(i->mods[k].id, &e))
            continue;
        if (n == 4)
            return false;
        type[n++] = e;
    }
    if (n == 2) {
        type[3] = type[1];
        type[1] = type[2] = VM_ELEM_F16;
    }
    return n == 2 || n == 4;
}

bool gr_vm_decode_product(Decoder *d, const PtxInstr *i, bool *control) {
    bool wmma = i->op == PTX_OP_WMMA && i->n_mods && i->mods[0].id == PTX_MOD_mma, column[2] = {false, false};
    unsigned mnk[3], n_layouts = 0;
    VmElement type[4];
    if ((!wmma && i->op != PTX_OP_MMA) || i->n_operands != 4 || !gr_vm_matrix_shape(i, mnk) ||
        !read_types(i, type))
        return false;
    for (unsigned k = 0; k < i->n_mods; k++)
        if (n_layouts < 2 && (i->mods[k].id == PTX_MOD_row || i->mods[k].id == PTX_MOD_col))
            column[n_layouts++] = i->mods[k].id == PTX_MOD_col;
    VmMma *p = GR_NEW(d->f->arena, VmMma);
    if (!p)
        return false;
    *p = (VmMma){.d.f = gr_vm_fragment(VM_MATRIX_C, type[0], mnk, wmma),
                 .a.f = gr_vm_fragment(VM_MATRIX_A, type[1], mnk, wmma),
                 .b.f = gr_vm_fragment(VM_MATRIX_B, type[2], mnk, wmma),
                 .c.f = gr_vm_fragment(VM_MATRIX_C, type[3], mnk, wmma),
                 .round = PTX_MOD_rn,
                 .satfinite = gr_ptx_instr_has(i, PTX_MOD_satfinite),
                 .bit_and = gr_ptx_instr_has(i, PTX_MOD_and)};
    static const PtxMod rounds[] = {PTX_MOD_rz, PTX_MOD_rm, PTX_MOD_rp};
    for (unsigned k = 0; k < 3; k++)
        if (gr_ptx_instr_has(i, rounds[k]))
            p->round = rounds[k];
    const PtxOperand *o = i->operands;
    if (!read_operand(d, &o[1], false, wmma, column[0], &p->a) ||
        !read_operand(d, &o[2], false, wmma, column[1], &p->b) ||
        !read_operand(d, &o[3], false, wmma, false, &p->c) ||
        !read_operand(d, &o[0], true, wmma, false, &p->d))
        return false;
    *control = true;
    if (!gr_vm_matrix_meet(d))
        return false;
    VmInsn *n = gr_vm_emit(d, gr_vm_x_mma, gr_vm_x_mma);
    if (n)
        n->extra = p;
    return true;
}
