// SPDX-License-Identifier: Apache-2.0
// matrix — what the decoders of matrix instructions share. Internal.
#ifndef GR_VM_CORE_MATRIX_H
#define GR_VM_CORE_MATRIX_H

#include "vm/core/decode.h"
#include "vm/core/mem_insn.h"

// All 32 lanes meet, which orders nothing (PTX ISA 9.7.14: .sync, .aligned).
bool gr_vm_matrix_meet(Decoder *d);
// Behind that, once per matrix instruction: tells observers if not all 32 threads of the warp execute it.
void gr_vm_matrix_whole(VmWarp *w, const VmInsn *i);
// An instruction with these operands.
VmInsn *gr_vm_emit3(Decoder *d, VmExec x, uint32_t to, uint32_t a, uint32_t b, uint64_t imm);
// The load or store that `info` describes, at the address in slot `address`.
bool gr_vm_matrix_access(Decoder *d, VmMemInfo *info, uint32_t address);
// gr_vm_x_join16: two registers of 16 bits to one of 32; gr_vm_x_part16: half `imm` of 32 bits.
const VmInsn *gr_vm_x_join16(VmWarp *w, const VmInsn *i);
const VmInsn *gr_vm_x_part16(VmWarp *w, const VmInsn *i);

#endif
