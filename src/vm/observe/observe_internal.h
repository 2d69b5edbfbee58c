// SPDX-License-Identifier: Apache-2.0
// observe_internal — what observe.c and held.c share.
#ifndef GR_VM_OBSERVE_OBSERVE_INTERNAL_H
#define GR_VM_OBSERVE_OBSERVE_INTERNAL_H

#include "vm/core/insn.h"

// Tells the observers of an access of the lanes of `mask`, which lie anywhere. `discards`: VmAccessEvent.
void gr_vm_tell_access(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES], uint32_t mask,
                       uint32_t discards);

// held.c: the lanes have loaded; observers hear of it once it is known whether they use the value.
void gr_vm_hold_load(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES], uint32_t mask);

#endif
