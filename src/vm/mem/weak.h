// SPDX-License-Identifier: Apache-2.0
// weak — outcomes that a sequentially consistent device never shows (VmConfig.weak): seeded store buffers, and loads
// that read overwritten values. Internal.
//
// Only weak accesses (PTX ISA, "Memory Consistency Model") behave so. A weak store waits in its thread's buffer.
// Buffers are emptied in seeded order, but in program order for one location, and wholly before their thread releases
// anything: fences, barriers, release operations, asynchronous operations, its end. A weak load may read what memory
// held at any moment since its thread last acquired something, but nothing older than what that thread has read or
// written there. Strong operations act on memory at once. So a program without races runs as ever, and a program with
// races shows what it trusted in.
#ifndef GR_VM_MEM_WEAK_H
#define GR_VM_MEM_WEAK_H

#include "vm/core/warp.h"

typedef struct VmWeak VmWeak;

VmWeak *gr_vm_weak_new(uint64_t seed, int device); // NULL: out of memory
void gr_vm_weak_free(VmWeak *k);
uint64_t gr_vm_weak_now(const VmWeak *k); // the moment; counts what was stored

// Stores one element of lane `lane`; `host`: where the bytes at `address` are. Global memory is looked up again when
// the store is performed, as it may be freed by then.
void gr_vm_weak_store(VmWarp *w, unsigned lane, bool global, uint64_t address, uint8_t *host,
                      const uint8_t *bytes, uint32_t size);
void gr_vm_weak_load(VmWarp *w, unsigned lane, const uint8_t *host, uint8_t *out, uint32_t size);
// Called before a strong operation of the lane on these bytes.
void gr_vm_weak_strong(VmWarp *w, unsigned lane, const uint8_t *host, uint32_t size, PtxSem sem, bool writes);
// From now on other lanes may see what the lanes in `mask` have done.
void gr_vm_weak_release(VmWarpRest *r, uint32_t mask);
// From now on the lanes in `mask` read nothing older than what others have released so far.
void gr_vm_weak_acquire(VmWarpRest *r, uint32_t mask);
void gr_vm_weak_sync(VmWarpRest *r, uint32_t mask, VmSyncKind kind, uint32_t barrier, PtxSem sem);
void gr_vm_weak_async(VmWarpRest *r, uint32_t mask, VmAsyncKind kind);
// Performs what the block's threads stored; the stores of a launch that faulted are lost.
void gr_vm_weak_block_end(VmBlock *b);
void gr_vm_weak_launch_end(VmLaunch *l);

#endif
