// SPDX-License-Identifier: Apache-2.0
// parts — what the extension is made of. Internal to src/engines/collider/vm.
#ifndef GR_ENGINES_COLLIDER_VM_PARTS_H
#define GR_ENGINES_COLLIDER_VM_PARTS_H

#include "vm/core/program.h"

// Each gives handlers to what it recognizes in a function that was decoded. False: out of memory.
bool gr_collider_vm_windows(VmFunc *f);
void gr_collider_vm_poison(VmModule *m, VmFunc *f);

// What a device keeps for the extension.
typedef struct ColliderVm {
    Map poisoned; // word of memory -> what it was (poison.c)
} ColliderVm;

void gr_collider_vm_unpoisoned(const void *state, const uint8_t *at, uint32_t n, uint8_t *bytes);
void gr_collider_vm_forget(void *state); // all that is poisoned: a fault may have left some

#endif
