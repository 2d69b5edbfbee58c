// SPDX-License-Identifier: Apache-2.0
// fragment — which elements of a matrix are in which registers of which lane, for wmma and mma.sync. Internal.
//
// For mma.sync as PTX ISA 9.7.14.5.1 to 14 draw it. For wmma PTX leaves it open (9.7.14.4.1): here lane l holds the
// l-th of 32 equal parts. A and B are parted line by line as they lie in memory, so that a lane loads neighbouring
// bytes; the product knows the layout (.alayout, .blayout). Only an accumulator's load or store knows its layout, so it
// is parted by rows. PTX has two or four times as many registers for A and B of f16 as there are elements: further ones
// repeat them, and nothing reads these.
#ifndef GR_VM_EXEC_FRAGMENT_H
#define GR_VM_EXEC_FRAGMENT_H

#include "ptx/ptx.h"

typedef enum VmElement {
    VM_ELEM_F16,
    VM_ELEM_BF16,
    VM_ELEM_TF32,
    VM_ELEM_E4M3,
    VM_ELEM_E5M2,
    VM_ELEM_F32,
    VM_ELEM_F64,
    VM_ELEM_S8,
    VM_ELEM_U8,
    VM_ELEM_S4,
    VM_ELEM_U4,
    VM_ELEM_B1,
    VM_ELEM_S32,
} VmElement;

typedef enum VmMatrix { VM_MATRIX_A, VM_MATRIX_B, VM_MATRIX_C } VmMatrix; // C: the accumulator, D too

typedef struct VmFragment {
    VmElement element;
    VmMatrix matrix;
    uint16_t rows, columns;
    uint8_t bits, n;       // of an element; elements of a lane
    uint8_t per_reg, regs; // elements in a register, registers that they take
    uint8_t reg_bytes;     // 4 or 8
    uint8_t written;       // registers of the instruction: those, and maybe the same again
} VmFragment;

enum { VM_MAX_FRAGMENT = 8 }; // registers

bool gr_vm_element(PtxMod type, VmElement *out);
bool gr_vm_matrix_shape(const PtxInstr *i, unsigned mnk[3]);
// The fragment of a product of m by k and k by n elements; the registers that wmma or mma.sync takes.
VmFragment gr_vm_fragment(VmMatrix matrix, VmElement element, const unsigned mnk[3], bool wmma);
// Row * columns + column of an element of a lane. `column`: the matrix lies in memory by columns.
unsigned gr_vm_wmma_place(const VmFragment *f, bool column, unsigned lane, unsigned element);
unsigned gr_vm_mma_place(const VmFragment *f, unsigned lane, unsigned element);

#endif
