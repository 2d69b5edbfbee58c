// SPDX-License-Identifier: Apache-2.0
// stuck — finds that kernels can never go on (stuck.c). Internal to the VM.
#ifndef GR_VM_SCHED_STUCK_H
#define GR_VM_SCHED_STUCK_H

#include "vm/core/device.h"
#include "vm/core/launch.h"
#include "vm/core/warp.h"

void gr_vm_stuck_init(VmStuck *s);
void gr_vm_stuck_due(VmDevice *d); // something is to be done
// The device has executed n warp instructions more.
static inline void gr_vm_stuck_ran(VmDevice *d, uint64_t n) {
    d->stuck.executed += n;
    if (__builtin_expect(d->stuck.executed >= d->stuck.next, 0))
        gr_vm_stuck_due(d);
}
// Split `to` takes over what is known of split `from`. Between two looks nothing is known of any.
static inline void gr_vm_seen_too(VmWarpRest *r, uint32_t from, uint32_t to) {
    if (__builtin_expect(r->launch->device->stuck.looking, 0))
        r->seen[to] = r->seen[from];
}
// Executes instructions of the running split from `i` on, as the scheduler does, while the device looks.
const VmInsn *gr_vm_look(VmWarp *w, const VmInsn *i, uint64_t *weight);

#endif
