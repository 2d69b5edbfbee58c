// SPDX-License-Identifier: Apache-2.0
// observer — what an engine hears of an execution on the CPU device.
//
// Events come in the order in which the device performs them (executions are sequentially consistent), on the
// thread that drives the device, one per warp instruction, not per lane. Instructions that a pass inserted
// are reported to nobody: they are neither accesses nor order. A callback may be NULL. Nothing handed over
// outlives the call.
#ifndef GR_VM_OBSERVER_H
#define GR_VM_OBSERVER_H

#include "ptx/ptx.h"

typedef struct VmWhere {
    uint64_t launch;   // launch number, from 1, in submission order over the process
    uint32_t block[3]; // ctaid
    uint64_t block_linear;
    uint32_t warp;           // within the block
    uint32_t mask;           // lanes that take part
    uint32_t site;           // number of the site within `module`; 0 for barriers and fences
    const PtxModule *module; // as handed to gr_vm_module_load
    const PtxStmt *stmt;
} VmWhere;

typedef struct VmAccessEvent {
    VmWhere where;
    PtxAccess access;
    PtxSpace space; // resolved: GLOBAL, SHARED, LOCAL, CONST, PARAM; a generic access over several spaces
                    // comes as several events
    bool generic;   // the instruction used a generic address
    PtxSem sem;     // PTX_WEAK for plain ld and st
    PtxScope scope;
    uint32_t size;           // bytes per lane, all vector elements together
    const uint64_t *address; // [32]; for shared memory the offset within the owner's
    uint64_t owner;          // SHARED: linear index of the block whose memory it is: another one of the
        // cluster, or where.block_linear. An access to several blocks comes as several events
} VmAccessEvent;

typedef enum VmSyncKind {
    VM_SYNC_BARRIER_ARRIVE,
    VM_SYNC_BARRIER_RELEASE,
    VM_SYNC_WARP,
    VM_SYNC_FENCE,
    VM_SYNC_CLUSTER_ARRIVE, // in phase `barrier` of the barrier of cluster `cluster`; sem RELEASE or RELAXED
    VM_SYNC_CLUSTER_RELEASE // the lanes were told that phase `barrier` is complete; sem ACQUIRE
} VmSyncKind;

typedef struct VmSyncEvent {
    VmWhere where;
    VmSyncKind kind;
    uint32_t barrier; // named barrier number; phase, from 0, of a cluster's
    uint64_t cluster; // linear index, x fastest, of the block's cluster; of the block itself without clusters
    PtxSem sem;       // fences and cluster barriers
    PtxScope scope;   // fences
} VmSyncEvent;

typedef struct VmLaunchEvent {
    uint64_t launch;
    const PtxModule *module;
    const PtxFunc *kernel;
    uint32_t grid[3], block[3], cluster[3]; // cluster: 1 x 1 x 1 unless there are some
    uint32_t shared_bytes;                  // static and dynamic
} VmLaunchEvent;

typedef struct VmObserver {
    void *user;
    void (*launch_begin)(void *user, const VmLaunchEvent *e);
    void (*launch_end)(void *user, const VmLaunchEvent *e, bool faulted);
    void (*block_begin)(void *user, uint64_t launch, uint64_t block_linear);
    void (*block_end)(void *user, uint64_t launch, uint64_t block_linear);
    void (*access)(void *user, const VmAccessEvent *e);
    void (*sync)(void *user, const VmSyncEvent *e);
} VmObserver;

#endif
