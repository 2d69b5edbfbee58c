// SPDX-License-Identifier: Apache-2.0
// stuck — finds that kernels can never go on (stuck.c). Internal to the VM.
#ifndef GR_VM_STUCK_H
#define GR_VM_STUCK_H

#include "vm/core/device.h"
#include "vm/core/insn.h"

void gr_vm_stuck_init(VmStuck *s);
// The device has executed n warp instructions more.
void gr_vm_stuck_ran(VmDevice *d, uint64_t n);
// Executes instructions of the running split from `i` on, as the scheduler does, while the device looks.
const VmInsn *gr_vm_look(VmWarp *w, const VmInsn *i, uint64_t *weight);

#endif
