// SPDX-License-Identifier: Apache-2.0
// async_end — where the ends of asynchronous operations and mbarriers are. Turns addresses of the several windows into
// blocks and bytes, and says what is wrong with addresses that are nowhere.
#include "vm/async/async.h"

#include "base/address.h"
#include "vm/core/block.h"
#include "vm/core/exec_mem.h"
#include "vm/core/fault.h"

static const char *verb(PtxAccess access) {
    return access == PTX_ACCESS_READ ? "read" : access == PTX_ACCESS_WRITE ? "wrote" : "updated";
}

// An offset in the window that all blocks of the cluster share (shared.c).
static bool window_end(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t at, VmEnd *out) {
    const VmCluster *c = rest_of(w)->block->cluster;
    uint64_t rank = at >> VM_SHARED_SHIFT;
    if (rank >= c->n) {
        gr_vm_stray(w, i, VM_FAULT_ILLEGAL_ADDRESS, lane, at,
                    "used 0x%llx, which is in the shared memory of no block of its cluster",
                    (unsigned long long)at);
        return false;
    }
    *out = (VmEnd){c->block[rank], at & (VM_SHARED_SLOT - 1)};
    return true;
}

bool gr_vm_async_end(VmWarp *w, const VmInsn *i, unsigned lane, const VmAddress *a, VmEnd *out) {
    uint64_t at = address_of(w, a, lane);
    bool shared = at - VM_SHARED_BASE < VM_SHARED_SIZE, local = at - VM_LOCAL_BASE < VM_LOCAL_SIZE;
    switch (a->space) {
    case PTX_SHARED_CTA:
        if (!window_end(w, i, lane, at, out))
            return false;
        if (out->block == rest_of(w)->block)
            return true;
        gr_vm_stray(
            w, i, VM_FAULT_ADDRESS_SPACE, lane, at,
            "used the shared memory of block (%u,%u,%u) as if it were its own, without .shared::cluster",
            out->block->ctaid[0], out->block->ctaid[1], out->block->ctaid[2]);
        return false;
    case PTX_SHARED_CLUSTER: return window_end(w, i, lane, at, out);
    case PTX_GENERIC:
        if (shared)
            return window_end(w, i, lane, at - VM_SHARED_BASE, out);
        // fall through
    default:
        if (shared || local) {
            gr_vm_stray(w, i, VM_FAULT_ADDRESS_SPACE, lane, at,
                        "used a generic address of %s memory, 0x%llx, as one of global memory",
                        shared ? "shared" : "local", (unsigned long long)at);
            return false;
        }
        *out = (VmEnd){NULL, at};
        return true;
    }
}

bool gr_vm_end_aligned(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t at, uint32_t align,
                       const char *what) {
    if (!(at & (align - 1)))
        return true;
    char text[GR_ADDRESS_TEXT];
    gr_vm_stray(w, i, VM_FAULT_MISALIGNED, lane, at, "used %s %s, which is not a multiple of %u", what,
                gr_address_text(at, text), align);
    return false;
}

uint8_t *gr_vm_end_host(VmWarp *w, const VmInsn *i, unsigned lane, VmEnd end, uint64_t size,
                        PtxAccess access) {
    if (!end.block)
        return gr_vm_global_at(w, i, lane, end.at, (uint32_t)size, access);
    uint64_t offset = ((uint64_t)end.block->rank << VM_SHARED_SHIFT) + end.at;
    VmBlock *owner;
    VmSharedMiss miss;
    uint8_t *p = gr_vm_shared_find(end.block->cluster, offset, size, &owner, &miss);
    if (!p)
        gr_vm_shared_fault(w, i, lane, verb(access), offset, size);
    return p;
}

bool gr_vm_bar_end(VmWarp *w, const VmInsn *i, unsigned lane, const VmAddress *a, VmEnd *out) {
    rest_of(w)->strays = VM_STRAYS_FAULT;
    bool found = gr_vm_async_end(w, i, lane, a, out);
    rest_of(w)->strays = VM_STRAYS_TOLD;
    return found;
}

uint8_t *gr_vm_bar_host(VmWarp *w, const VmInsn *i, unsigned lane, VmEnd bar) {
    rest_of(w)->strays = VM_STRAYS_FAULT;
    uint8_t *at = gr_vm_end_aligned(w, i, lane, bar.at, 8, "an mbarrier at")
                      ? gr_vm_end_host(w, i, lane, bar, 8, PTX_ACCESS_RMW)
                      : NULL;
    rest_of(w)->strays = VM_STRAYS_TOLD;
    return at;
}
