// SPDX-License-Identifier: Apache-2.0
// mma — products of matrices that a warp holds in registers: wmma.mma and mma.sync. Internal.
#ifndef GR_VM_EXEC_MMA_H
#define GR_VM_EXEC_MMA_H

#include "vm/core/exec.h"
#include "vm/exec/fragment.h"

typedef struct VmMmaOperand {
    VmFragment f;
    uint32_t slot[VM_MAX_FRAGMENT];
    const uint16_t *place; // [lane * n + element]: row * columns + column
} VmMmaOperand;

typedef struct VmMma {
    VmMmaOperand a, b, c, d;
    PtxMod round;   // of f64: rn, rz, rm, rp
    bool satfinite; // of s32
    bool bit_and;   // of b1: counts where both are set, not where one is
} VmMma;

VM_HANDLER(gr_vm_x_mma); // extra: VmMma

#endif
