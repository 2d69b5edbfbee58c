// SPDX-License-Identifier: Apache-2.0
// mem_kernels — the quick handlers of loads and stores, compiled once per instruction set. Internal.
#ifndef GR_VM_MEM_MEM_KERNELS_H
#define GR_VM_MEM_MEM_KERNELS_H

#include "vm/core/exec.h"
#include "vm/core/mem_insn.h"

// Indices of the table.
enum { MEM_GLOBAL, MEM_GENERIC, MEM_SHARED64, MEM_SHARED32, MEM_WHERES };
enum { MEM_B32, MEM_B64, MEM_V2B32, MEM_V4B32, MEM_V2B64, MEM_SHAPES };

typedef struct VmMemKernels {
    VmExec exec[2][MEM_WHERES][MEM_SHAPES][2]; // [store][where][shape][partial]
    VmExec atom[MEM_WHERES][2][2];             // [where][add][8 bytes]
    VmExec lanes; // elements of up to 8 bytes, of any of these spaces or of local memory
    // Whether the active lanes' addresses increase from lane to lane, so that no two are equal.
    bool (*distinct)(const VmWarp *w, const VmInsn *i);
} VmMemKernels;

extern const VmMemKernels gr_vm_mem_kernels_base;
#ifdef GR_VM_HAVE_LEVELS
extern const VmMemKernels gr_vm_mem_kernels_v3;
extern const VmMemKernels gr_vm_mem_kernels_v4;
#endif

// The table for this machine (exec_mem.c).
const VmMemKernels *gr_vm_mem_kernels(void);

// For tests: modules loaded from now on get that table ("base", "v3", "v4"), or none ("none"); NULL: the best again.
// False: this machine has not got it.
bool gr_vm_mem_use(const char *isa);

// Strong .b128 accesses and vectors of strong elements are done in one piece. PTX promises only the elements, but
// hardware does so, and programs rely on it (CUB keeps a tile's status beside its value). Only other threads see the
// difference: those of other blocks, or the program's own in memory that they reach (scope .sys).
static inline bool gr_vm_is_whole(const VmMemInfo *info) {
    return info->sem != PTX_SEM_NONE && info->sem != PTX_WEAK &&
           (info->size == 16 || (info->vec > 1 && info->size == 8));
}

static inline bool gr_vm_is_for_host(const VmMemInfo *info) { return info->scope == PTX_SCOPE_SYS; }

// Does the whole instruction, if the quick handlers do not.
VM_HANDLER(gr_vm_x_mem);
// Does the instruction without the hook, which the quick handler has called.
VM_HANDLER(gr_vm_x_mem_rest);
VM_HANDLER(gr_vm_x_atom_rest);

#endif
