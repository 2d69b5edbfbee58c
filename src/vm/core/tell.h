// SPDX-License-Identifier: Apache-2.0
// tell — handlers and scheduler tell observers of synchronization and windows' ends (observe.c; accesses: exec_mem.h).
#ifndef GR_VM_CORE_TELL_H
#define GR_VM_CORE_TELL_H

#include "vm/core/device.h"
#include "vm/core/launch.h"

// These lanes are about to order what they did before: undecided loads count, unless the lane is among `discards`.
void gr_vm_settle_loads(VmWarpRest *r, uint32_t mask, uint32_t discards);
// Whether any lane holds a load back. (VmWarpRest.holding may have lanes that hold none any more.)
bool gr_vm_holds_loads(const VmWarpRest *r);
void gr_vm_tell_closed(VmWarpRest *r, VmSplit *p);
// The split's lanes go on, or are no more.
static inline void gr_vm_close_window(VmWarpRest *r, VmSplit *p) {
    if (__builtin_expect(p->window != 0, 0))
        gr_vm_tell_closed(r, p);
}
// `barrier`: of VM_SYNC_FENCE_PROXY the proxy.
void gr_vm_tell_sync(VmWarpRest *r, const VmInsn *i, uint32_t mask, VmSyncKind kind, uint32_t barrier,
                     PtxSem sem, PtxScope scope);
static inline void gr_vm_report_sync(VmWarpRest *r, const VmInsn *i, uint32_t mask, VmSyncKind kind,
                                     uint32_t barrier, PtxSem sem, PtxScope scope) {
    if (r->launch->device->listens_sync || r->holding) // whose loads are settled first
        gr_vm_tell_sync(r, i, mask, kind, barrier, sem, scope);
}

#endif
