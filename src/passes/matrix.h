// SPDX-License-Identifier: Apache-2.0
// matrix — the matrix that wmma.load or wmma.store accesses in memory (PTX ISA 9.7.14.4).
#ifndef GR_PASSES_MATRIX_H
#define GR_PASSES_MATRIX_H

#include "ptx/ptx.h"

// `lines` rows or columns of `length` elements of `bits` bits, one `stride` elements after the other.
typedef struct PtxMatrix {
    unsigned lines, length, bits;
} PtxMatrix;

// False: the instruction is none of these.
bool gr_ptx_matrix(const PtxInstr *i, PtxMatrix *m);

#endif
