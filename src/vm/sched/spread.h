// SPDX-License-Identifier: Apache-2.0
// spread — a launch whose blocks run on several threads (VmConfig.jobs). Internal to the VM.
//
// The launch is cut into shares, one per thread. A share is a VmLaunch of its own, with blocks, warps, ready lists,
// chance, inline caches and clock, so handlers and scheduler work as ever. Shares take the next block of the grid from
// one counter. Everything that threads of one block wait for happens within a share; blocks that wait for each other
// spin on global memory, where atomic operations and fences are real ones (VmWarp.atomics).
#ifndef GR_VM_SCHED_SPREAD_H
#define GR_VM_SCHED_SPREAD_H

#include "vm/core/launch.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct VmSpread {
    VmLaunch *whole;
    uint32_t n;
    bool allocates;       // the module calls malloc or free
    pthread_mutex_t lock; // of the device's output and heap
    _Atomic uint64_t next_block __attribute__((aligned(64)));
    _Atomic int64_t budget __attribute__((aligned(64))); // warp instructions left in this slice
    _Atomic bool stop;                                   // a thread faulted
    VmLaunch *share[];
} VmSpread;

// Spreads a launch that is about to start, if it should be and can be.
void gr_vm_spread(VmLaunch *l);
// Runs the launch for about `steps` warp instructions per thread.
void gr_vm_spread_run(VmLaunch *l, uint64_t steps);
void gr_vm_spread_free(VmLaunch *l);
// The slowest share has exceeded the watchdog's time.
bool gr_vm_spread_overdue(const VmLaunch *share);
// Takes the first block of the next cluster of the grid; false: there is none.
bool gr_vm_take_blocks(VmLaunch *l, uint64_t *first);

// Guards what shares do to the device's heap and output.
void gr_vm_share_lock(VmLaunch *l);
void gr_vm_share_unlock(VmLaunch *l);

#endif
