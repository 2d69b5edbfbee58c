// SPDX-License-Identifier: Apache-2.0
// fragment — see the header.
#include "vm/exec/fragment.h"

#include "vm/core/insn.h"

#include <stdio.h>

static const struct {
    PtxMod mod;
    VmElement element;
    uint8_t bits;
} elements[] = {
    [VM_ELEM_F16] = {PTX_MOD_f16, VM_ELEM_F16, 16},    [VM_ELEM_BF16] = {PTX_MOD_bf16, VM_ELEM_BF16, 16},
    [VM_ELEM_TF32] = {PTX_MOD_tf32, VM_ELEM_TF32, 32}, [VM_ELEM_E4M3] = {PTX_MOD_e4m3, VM_ELEM_E4M3, 8},
    [VM_ELEM_E5M2] = {PTX_MOD_e5m2, VM_ELEM_E5M2, 8},  [VM_ELEM_F32] = {PTX_MOD_f32, VM_ELEM_F32, 32},
    [VM_ELEM_F64] = {PTX_MOD_f64, VM_ELEM_F64, 64},    [VM_ELEM_S8] = {PTX_MOD_s8, VM_ELEM_S8, 8},
    [VM_ELEM_U8] = {PTX_MOD_u8, VM_ELEM_U8, 8},        [VM_ELEM_S4] = {PTX_MOD_s4, VM_ELEM_S4, 4},
    [VM_ELEM_U4] = {PTX_MOD_u4, VM_ELEM_U4, 4},        [VM_ELEM_B1] = {PTX_MOD_b1, VM_ELEM_B1, 1},
    [VM_ELEM_S32] = {PTX_MOD_s32, VM_ELEM_S32, 32},
};

bool gr_vm_element(PtxMod type, VmElement *out) {
    for (size_t k = 0; k < sizeof elements / sizeof *elements; k++)
        if (elements[k].mod == type) {
            *out = elements[k].element;
            return true;
        }
    return false;
}

bool gr_vm_matrix_shape(const PtxInstr *i, unsigned mnk[3]) {
    for (unsigned k = 0; k < i->n_mods; k++)
        if (sscanf(i->mods[k].text, "m%un%uk%u", &mnk[0], &mnk[1], &mnk[2]) == 3)
            return true;
    return false;
}

VmFragment gr_vm_fragment(VmMatrix matrix, VmElement element, const unsigned mnk[3], bool wmma) {
    VmFragment f = {.element = element, .matrix = matrix, .bits = elements[element].bits};
    f.rows = (uint16_t)(matrix == VM_MATRIX_B ? mnk[2] : mnk[0]);
    f.columns = (uint16_t)(matrix == VM_MATRIX_A ? mnk[2] : mnk[1]);
    f.n = (uint8_t)(f.rows * f.columns / VM_LANES);
    f.reg_bytes = f.bits == 64 ? 8 : 4;
    f.per_reg = (uint8_t)(f.reg_bytes * 8 / f.bits);
    f.regs = f.written = f.n / f.per_reg;
    if (wmma && element == VM_ELEM_F16 && matrix != VM_MATRIX_C)
        f.written = VM_MAX_FRAGMENT;
    return f;
}

unsigned gr_vm_wmma_place(const VmFragment *f, bool column, unsigned lane, unsigned element) {
    unsigned at = lane * f->n + element;
    return column && f->matrix != VM_MATRIX_C ? at % f->rows * f->columns + at / f->rows : at;
}

// Registers of A and B follow each other in squares of 8 rows (columns) and 4 registers; of 16 rows, the lower next.
unsigned gr_vm_mma_place(const VmFragment *f, unsigned lane, unsigned element) {
    unsigned group = lane >> 2, in_group = lane & 3, reg = element / f->per_reg;
    unsigned within = in_group * f->per_reg + element % f->per_reg, square = 4u * f->per_reg;
    unsigned halves = f->rows == 16 ? 2 : 1;
    switch (f->matrix) {
    case VM_MATRIX_A: return (group + 8 * (reg % halves)) * f->columns + within + reg / halves * square;
    case VM_MATRIX_B: return (within + reg * square) * f->columns + group;
    default: return (group + 8 * (element / 2)) * f->columns + in_group * 2 + element % 2;
    }
}
