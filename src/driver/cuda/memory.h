// SPDX-License-Identifier: Apache-2.0
// memory — memory of the device and its pools.
#ifndef GR_DRIVER_CUDA_MEMORY_H
#define GR_DRIVER_CUDA_MEMORY_H

#include "driver/cuda/driver.h"

struct MemPool {
    HandleKind kind;
    Dev *dev;
    uint64_t release_threshold, used, used_high, reserved_high;
    int reuse_event, reuse_opportunistic, reuse_internal;
    uint32_t peers; // devices that were given access, a bit each
    Map allocs;     // address -> VmRange
};

// The tool's view of [addr, addr+size), which must lie in one allocation.
void *gr_mem_device_view(CUdeviceptr addr, size_t size);
void gr_mem_count_visible(int64_t n); // managed variables of modules
bool gr_mem_host_visible(void);       // pinned, managed or registered memory exists
CUresult gr_mem_free_now(uint64_t addr);
void gr_mem_retire(uint64_t addr, uint64_t last_launch); // only launches up to that number still use it
void gr_mem_drop_retired(uint64_t addr);
CUresult gr_mem_alloc(Ctx *ctx, VmMemKind kind, size_t size, unsigned flags, VmRange **out);
void gr_advice_forget(uint64_t addr); // of managed memory that is about to be freed
MemPool *gr_pool_new(Dev *dev);
CUresult gr_pool_alloc(Ctx *ctx, MemPool *pool, size_t size, CUdeviceptr *out);
void gr_pool_forget(VmRange *r); // the range is about to be freed

#endif
