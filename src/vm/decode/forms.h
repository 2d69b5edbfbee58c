// SPDX-License-Identifier: Apache-2.0
// forms — which combinations of modifiers of an instruction this device executes: the rows of forms.def.
#ifndef GR_VM_DECODE_FORMS_H
#define GR_VM_DECODE_FORMS_H

#include "ptx/ptx.h"

// The decoder may try the instruction. False: it has a modifier that no row of its opcode has, or lacks one: it is then
// absent by name, however well the rest of it would decode.
bool gr_vm_form_allows(const PtxInstr *i);

#endif
