// SPDX-License-Identifier: Apache-2.0
// weak — outcomes that a sequentially consistent device never shows (VmConfig.weak): seeded store buffers, and loads
// that read what was overwritten already. Internal.
//
// Only weak accesses (PTX ISA, "Memory Consistency Model") behave so. A weak store waits in its thread's buffer;
// buffers are emptied in seeded order, but in program order for one location. A thread's buffer is emptied wholly
// before the thread releases anything: fences, barriers, release operations, asynchronous operations, its end. A weak
// load may read what memory held at any moment since its thread last acquired something, but never older than what that
// thread has read or written there. Strong operations act on memory at once. So a program without races runs as ever,
// and a program with races shows what it trusted in.
#ifndef GR_VM_MEM_WEAK_H
#define GR_VM_MEM_WEAK_H

#include "vm/core/warp.h"

typedef struct VmWeak VmWeak;

VmWeak *gr_vm_weak_new(uint64_t seed, int device); // NULL: out of memory
void gr_vm_weak_free(VmWeak *k);
uint64_t gr_vm_weak_now(const VmWeak *k); // the moment; counts what was stored

// One element of lane `lane`: `host` is where the bytes at `address` are. Global memory is found anew when the store is
// performed, since it may have been freed by then.
void gr_vm_weak_store(VmWarp *w, unsigned lane, bool global, uint64_t address, uint8_t *host,
                      const uint8_t *bytes, uint32_t size);
void gr_vm_weak_load(VmWarp *w, unsigned lane, const uint8_t *host, uint8_t *out, uint32_t size);
// Before a strong operation of the lane on these bytes.
void gr_vm_weak_strong(VmWarp *w, unsigned lane, const uint8_t *host, uint32_t size, PtxSem sem, bool writes);
// Lanes `mask` release what they did; acquire what others released until now.
void gr_vm_weak_release(VmWarpRest *r, uint32_t mask);
void gr_vm_weak_acquire(VmWarpRest *r, uint32_t mask);
void gr_vm_weak_sync(VmWarpRest *r, uint32_t mask, VmSyncKind kind, uint32_t barrier, PtxSem sem);
void gr_vm_weak_async(VmWarpRest *r, uint32_t mask, VmAsyncKind kind);
// What the block's threads stored is performed; what those of a launch that faulted stored is lost.
void gr_vm_weak_block_end(VmBlock *b);
void gr_vm_weak_launch_end(VmLaunch *l);

#endif
