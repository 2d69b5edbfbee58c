// SPDX-License-Identifier: Apache-2.0
// shared — the shared window of a cluster: which block's memory an address is, and what to say if it is no block's.
//
// Block `rank` of a cluster has its shared memory at rank << VM_SHARED_SHIFT, in the window as every block of the
// cluster sees it. So one block can hand addresses to another, and mapa only replaces the rank. Quick handlers know the
// block's own memory; all other accesses come here (distributed shared memory, CUDA C++ Programming Guide, "Distributed
// Shared Memory").
#include "vm/core/block.h"
#include "vm/core/exec.h"
#include "vm/core/fault.h"
#include "vm/core/mem_insn.h"
#include "vm/core/warp.h"

uint8_t *gr_vm_shared_find(const VmCluster *c, uint64_t offset, uint64_t size, VmBlock **owner,
                           VmSharedMiss *miss) {
    uint64_t rank = offset >> VM_SHARED_SHIFT, at = offset & (VM_SHARED_SLOT - 1);
    *owner = NULL;
    *miss = VM_SHARED_NO_BLOCK;
    if (rank >= c->n)
        return NULL;
    VmBlock *b = *owner = c->block[rank];
    *miss = b->ended                                              ? VM_SHARED_ENDED
            : at > b->shared_bytes || b->shared_bytes - at < size ? VM_SHARED_OUTSIDE
                                                                  : VM_SHARED_FOUND;
    return *miss == VM_SHARED_FOUND ? b->shared + at : NULL;
}

// Faults, as no other block has shared memory there.
static const VmInsn *outside(VmWarp *w, const VmInsn *i, unsigned lane, const char *did, uint64_t offset,
                             uint64_t size) {
    unsigned long long n = size, have = rest_of(w)->block->shared_bytes;
    if (offset >= VM_SHARED_SIZE / 2) // a negative index
        return gr_vm_stray(w, i, VM_FAULT_ILLEGAL_ADDRESS, lane, offset,
                           "%s %llu bytes at shared address 0x%llx, %llu bytes before the block's %llu bytes "
                           "of shared memory",
                           did, n, (unsigned long long)offset, (unsigned long long)(VM_SHARED_SIZE - offset),
                           have);
    return gr_vm_stray(w, i, VM_FAULT_ILLEGAL_ADDRESS, lane, offset,
                       "%s %llu bytes at offset 0x%llx of %llu bytes of shared memory", did, n,
                       (unsigned long long)offset, have);
}

const VmInsn *gr_vm_shared_fault(VmWarp *w, const VmInsn *i, unsigned lane, const char *did, uint64_t offset,
                                 uint64_t size) {
    const VmBlock *self = rest_of(w)->block;
    VmBlock *b;
    VmSharedMiss miss;
    (void)gr_vm_shared_find(self->cluster, offset, size, &b, &miss);
    unsigned long long n = size, at = offset & (VM_SHARED_SLOT - 1);
    if (self->cluster->n == 1 && !self->launch->explicit_cluster)
        return outside(w, i, lane, did, offset, size);
    if (!b)
        return gr_vm_stray(w, i, VM_FAULT_CLUSTER_BLOCK, lane, offset,
                           "%s %llu bytes of the shared memory of block %llu of a cluster of %u", did, n,
                           (unsigned long long)(offset >> VM_SHARED_SHIFT), self->cluster->n);
    if (miss == VM_SHARED_ENDED)
        return gr_vm_stray_misuse(
            w, i, VM_MISUSE_SHARED_ENDED, VM_FAULT_CLUSTER_BLOCK, lane, offset,
            "%s %llu bytes of the shared memory of block (%u,%u,%u), whose threads have all exited", did, n,
            b->ctaid[0], b->ctaid[1], b->ctaid[2]);
    if (b != self)
        return gr_vm_stray(
            w, i, VM_FAULT_ILLEGAL_ADDRESS, lane, offset,
            "%s %llu bytes at offset 0x%llx of %llu bytes of the shared memory of block (%u,%u,%u)", did, n,
            at, (unsigned long long)b->shared_bytes, b->ctaid[0], b->ctaid[1], b->ctaid[2]);
    return gr_vm_stray(w, i, VM_FAULT_ILLEGAL_ADDRESS, lane, offset,
                       "%s %llu bytes at offset 0x%llx of %llu bytes of shared memory", did, n, at,
                       (unsigned long long)b->shared_bytes);
}

// ---- Addresses of the window -------------------------------------------------------------------------------

static uint64_t read_lane(const VmWarp *w, uint32_t slot, bool wide, unsigned l) {
    return wide ? VM_U64(w, slot)[l] : VM_U32(w, slot)[l];
}

// Sets *out to the offset in the window of lane l's address. False: the address is not in the window, and the lane has
// faulted.
static bool window_offset(VmWarp *w, const VmInsn *i, unsigned l, uint64_t *out) {
    const VmMapaInfo *info = i->extra;
    uint64_t a = read_lane(w, i->a, info->wide, l);
    *out = info->generic ? a - VM_SHARED_BASE : a;
    if (*out < VM_SHARED_SIZE)
        return true;
    gr_vm_fault(w, i, VM_FAULT_ADDRESS_SPACE, (int)l, a,
                "mapped 0x%llx, which is not an address of shared memory", (unsigned long long)a);
    return false;
}

// PTX ISA 9.7.9.23. A rank that the cluster has not is no error until the address is used.
VM_HANDLER(gr_vm_x_mapa) {
    const VmMapaInfo *info = i->extra;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t rank = VM_U32(w, i->b)[l];
        uint64_t at;
        if (!window_offset(w, i, l, &at))
            return NULL;
        at = (at & (VM_SHARED_SLOT - 1)) | (uint64_t)(rank < 255 ? rank : 255) << VM_SHARED_SHIFT;
        if (info->wide)
            VM_U64(w, i->d)[l] = at + (info->generic ? VM_SHARED_BASE : 0);
        else
            VM_U32(w, i->d)[l] = (uint32_t)at;
    }
    return i + 1;
}

VM_HANDLER(gr_vm_x_getctarank) {
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at;
        if (!window_offset(w, i, l, &at))
            return NULL;
        VM_U32(w, i->d)[l] = (uint32_t)(at >> VM_SHARED_SHIFT);
    }
    return i + 1;
}
