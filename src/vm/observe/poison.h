// SPDX-License-Identifier: Apache-2.0
// poison — what memory would hold without poisoned writes (engines/collider/pass/collider.h). Internal.
//
// The collider's --poison-writes stores the complement of a value before the value. Whether two threads store the same value is a
// question about the program's memory, in which there are no complements: so of bytes that are poisoned now, what was there before is kept
// until the program itself stores to them.
#ifndef GR_VM_POISON_H
#define GR_VM_POISON_H

#include "vm/core/decode.h"
#include "vm/core/mem_insn.h"
#include "vm/core/warp.h"

// Handlers for a store that poisons, and for the program's own that follows; else *out stays as it is.
void gr_vm_poison_select(Decoder *d, const VmMemInfo *info, VmExec out[2]);
// The program's bytes at `host`.
void gr_vm_unpoisoned(const VmDevice *d, const uint8_t *host, uint32_t n, uint8_t *out);
void gr_vm_poison_forget(VmDevice *d); // all of it

#endif
