// SPDX-License-Identifier: Apache-2.0
// block — the state of a block and of a cluster of blocks, and where their shared memory is. Internal to the VM.
#ifndef GR_VM_CORE_BLOCK_H
#define GR_VM_CORE_BLOCK_H

#include "vm/core/warp.h"

enum { VM_MBARS_KEPT = 32 };

typedef struct VmCluster VmCluster;

typedef struct VmBarrier {
    uint32_t arrived, expected; // threads; expected 0: all that have not exited
    uint32_t popc;              // of the predicates of .red
    bool not_all;               // one of them was false
    bool used;
} VmBarrier;

struct VmBlock {
    VmLaunch *launch;
    uint64_t linear;
    uint32_t ctaid[3];
    uint32_t sm;
    VmCluster *cluster;
    uint32_t rank; // in the cluster
    bool ended;    // has ended, and is kept only because others of the cluster run
    bool end_told; // observers know that
    uint32_t n_warps, live_warps;
    uint32_t live_threads;
    uint32_t moving; // warps that are ready or sleep
    uint8_t *shared;
    uint64_t shared_bytes;
    VmBarrier barrier[VM_BARRIERS];
    uint64_t weak_since; // moment of its start: weak.h
    bool mbar_waiters;   // some split may be suspended at an mbarrier
    uint32_t n_mbars,
        mbars[VM_MBARS_KEPT]; // offsets of those that were initialized, and not invalidated since
    uint64_t async_ids;       // asynchronous operations so far
    VmAsyncOp *async_free;    // records
    VmWarpRest *warps;
    VmBlock *prev, *next; // resident list
};

// Blocks that start together and see each other's shared memory. Every block is in one, usually alone.
struct VmCluster {
    uint32_t n, running; // blocks; of those, not ended
    uint32_t live;       // threads that have not exited
    uint32_t arrived;    // threads at the cluster barrier
    uint32_t phase;      // how often the cluster barrier was complete
    VmCluster *next_free;
    VmBlock *block[]; // by rank
};

void gr_vm_block_end(VmBlock *b);
void gr_vm_async_flush(VmBlock *b); // everything that the block has in flight happens

// ---- barrier.c, cluster.c --------------------------------------------------------------------------------------

void gr_vm_barrier_recheck(VmBlock *b); // threads exited
bool gr_vm_barrier_complete(const VmBlock *b, uint32_t n);
void gr_vm_cluster_recheck(VmCluster *c);
bool gr_vm_waits_for_cluster(const VmBlock *b); // at the barrier of its cluster
bool gr_vm_cluster_stuck(
    const VmBlock *b); // no thread in the block can move, nor can the cluster make it move

// ---- shared.c --------------------------------------------------------------------------------------------------

typedef enum VmSharedMiss {
    VM_SHARED_FOUND,
    VM_SHARED_OUTSIDE, // runs over the end of that block's shared memory
    VM_SHARED_NO_BLOCK,
    VM_SHARED_ENDED, // the block's threads have all exited
} VmSharedMiss;

// Where the `size` bytes at `offset` of the shared window are, for the blocks of cluster c. NULL: *miss says why.
// *owner is the block whose memory it is, NULL when there is none.
uint8_t *gr_vm_shared_find(const VmCluster *c, uint64_t offset, uint64_t size, VmBlock **owner,
                           VmSharedMiss *miss);
// Faults for lane `lane`, which `did` ("read", "wrote", …) `size` bytes at `offset` of the window and found none.
// Returns NULL.
const VmInsn *gr_vm_shared_fault(VmWarp *w, const VmInsn *i, unsigned lane, const char *did, uint64_t offset,
                                 uint64_t size);

#endif
