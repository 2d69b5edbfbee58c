// SPDX-License-Identifier: Apache-2.0
// alu_select — what the selection of conversions and of other arithmetic share.
#ifndef GR_VM_ALU_ALU_SELECT_H
#define GR_VM_ALU_ALU_SELECT_H

#include "vm/alu/alu.h"

// Adds the flag of a modifier's text to *flags; false when it is none.
bool gr_alu_flag(const char *text, unsigned *flags);

// cvt and cvt.pack.
bool gr_alu_select_cvt(const PtxInstr *i, VmAlu *out);

#endif
