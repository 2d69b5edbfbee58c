// SPDX-License-Identifier: Apache-2.0
// memory_parts — what memory.c and virtual.c have of each other.
#ifndef GR_VM_MEM_MEMORY_PARTS_H
#define GR_VM_MEM_MEMORY_PARTS_H

#include "vm/memory.h"

typedef struct VmVirtual VmVirtual;

// ---- memory.c ------------------------------------------------------------------------------------------------

// Where virtual.c keeps its own; NULL at first.
VmVirtual **gr_vm_mem_virtual(VmMem *m);
const VmVirtual *gr_vm_mem_virtual_of(const VmMem *m);
// Counts memory of a device. False: it does not have as much left.
bool gr_vm_mem_take(VmMem *m, int device, uint64_t size);
void gr_vm_mem_put_back(VmMem *m, int device, uint64_t size);
uint64_t gr_vm_mem_next_serial(VmMem *m);
// Copies the range. NULL: memory is out.
VmRange *gr_vm_mem_add_range(VmMem *m, const VmRange *r);
// The range that begins at `addr`.
void gr_vm_mem_drop_range(VmMem *m, uint64_t addr);
void gr_vm_mem_note_freed(VmMem *m, uint64_t addr, uint64_t size);

// ---- virtual.c -----------------------------------------------------------------------------------------------

void gr_vm_virtual_free(VmVirtual *v);
// The address is in the region of reserved addresses or of the tool's own view of them.
bool gr_vm_virtual_owns(const VmVirtual *v, uint64_t addr);

#endif
