// SPDX-License-Identifier: Apache-2.0
// exec — the handlers that are not arithmetic, by name, for the decoder. Internal.
#ifndef GR_VM_CORE_EXEC_H
#define GR_VM_CORE_EXEC_H

#include "vm/core/insn.h"

#define VM_HANDLER(name) const VmInsn *name(VmWarp *w, const VmInsn *i)

// exec_ctl.c
VM_HANDLER(gr_vm_x_unknown); // extra: the instruction's text
VM_HANDLER(gr_vm_x_end);     // past the last statement of a function
VM_HANDLER(gr_vm_x_guard);
VM_HANDLER(gr_vm_x_guard_control);
VM_HANDLER(gr_vm_x_bra);
VM_HANDLER(gr_vm_x_bra_if);
VM_HANDLER(gr_vm_x_brx); // a: index; extra: VmBranchTable
VM_HANDLER(gr_vm_x_rejoin);
VM_HANDLER(gr_vm_x_exit);
VM_HANDLER(gr_vm_x_exit_if);
VM_HANDLER(gr_vm_x_trap);
VM_HANDLER(gr_vm_x_brkpt);
VM_HANDLER(gr_vm_x_nop);
VM_HANDLER(gr_vm_x_nanosleep); // a: nanoseconds
VM_HANDLER(gr_vm_x_decide);    // observe.c; body: the instruction; extra: VmDecision

// exec_call.c
VM_HANDLER(gr_vm_x_call); // extra: VmCallInfo
VM_HANDLER(gr_vm_x_ret);
VM_HANDLER(gr_vm_x_alloca); // a: size; imm: alignment
VM_HANDLER(gr_vm_x_stacksave);
VM_HANDLER(gr_vm_x_stackrestore);

// exec_move.c
VM_HANDLER(gr_vm_x_mov_pred);
VM_HANDLER(gr_vm_x_mov16);
VM_HANDLER(gr_vm_x_mov32);
VM_HANDLER(gr_vm_x_mov64);
VM_HANDLER(gr_vm_x_mov128);
VM_HANDLER(gr_vm_x_pack); // extra: VmPack
VM_HANDLER(gr_vm_x_unpack);
VM_HANDLER(gr_vm_x_add64); // cvta: d = a + imm
VM_HANDLER(gr_vm_x_isspacep);
VM_HANDLER(gr_vm_x_ldp); // extra: VmMemInfo; a: area, b: stride, imm: offset
VM_HANDLER(gr_vm_x_stp);
VM_HANDLER(
    gr_vm_x_spill); // a parameter of the function to its stack; a: area, b: stride, c: where in the stack

// shared.c: extra: VmMapaInfo
VM_HANDLER(gr_vm_x_mapa);
VM_HANDLER(gr_vm_x_getctarank);

// barrier.c
VM_HANDLER(gr_vm_x_barrier); // extra: VmBarrierInfo
VM_HANDLER(gr_vm_x_fence);
VM_HANDLER(gr_vm_x_grid_wait);
VM_HANDLER(gr_vm_x_cluster_arrive);
VM_HANDLER(gr_vm_x_cluster_wait);

// collective.c
VM_HANDLER(gr_vm_x_collective); // extra: VmCollectiveInfo
VM_HANDLER(gr_vm_x_activemask);

// exec_async.c
VM_HANDLER(gr_vm_x_cp_async); // extra: VmCopyInfo; see async.h for these
VM_HANDLER(gr_vm_x_async_commit);
VM_HANDLER(gr_vm_x_async_wait);
VM_HANDLER(gr_vm_x_cp_async_arrive); // extra: VmMbarInfo
VM_HANDLER(gr_vm_x_bulk);
VM_HANDLER(gr_vm_x_store_async);
VM_HANDLER(gr_vm_x_st_bulk); // a: size; extra: VmAddress

// mbarrier.c
VM_HANDLER(gr_vm_x_mbarrier);
VM_HANDLER(gr_vm_x_mbarrier_test);
VM_HANDLER(gr_vm_x_mbarrier_pending);

// atom.c
VM_HANDLER(gr_vm_x_atom);

// arrive.c: extra: VmMemInfo, which has the handler of the access itself
VM_HANDLER(gr_vm_x_arrives);
VM_HANDLER(gr_vm_x_arrives_part);
VM_HANDLER(gr_vm_x_polls);
VM_HANDLER(gr_vm_x_polls_part);

typedef struct VmBranchTable {
    uint32_t n;
    const VmInsn *target[];
} VmBranchTable;

typedef struct VmPack {
    uint32_t n;    // elements
    uint8_t bytes; // of one element
    uint8_t lane;  // bytes of the whole
    uint32_t slot[16];
    uint8_t reg_bytes[16];
} VmPack;

#endif
