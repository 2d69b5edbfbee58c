// SPDX-License-Identifier: Apache-2.0
// memory — allocation and registration. Freeing waits for all work of all contexts, as cuMemFree does under CUDA. The
// exception is memory of cuMemAllocAsync, for which CUDA promises not to wait. cuMemFreeAsync (pool.c) frees in stream
// order.
#include "driver/cuda/memory.h"
#include "device_api/hooks.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/graph.h"
#include "driver/cuda/queue.h"
#include "vm/virtual.h"

static uint64_t host_visible;        // allocations that the host can see
static uint64_t visible_changes = 1; // how often another one came or went

// What came and went since `noted`, for a tool that asks often.
typedef struct Change {
    GrSharedMemory kind;
    uint64_t at, size;
} Change;
static VEC(Change) changes;
static uint64_t noted = 1;
enum { NOTED_MOST = 4096 }; // changes that nobody asks for

void gr_mem_count_visible(int64_t n) {
    host_visible += (uint64_t)n;
    visible_changes += n != 0;
    if (n)
        changes.len = 0; // they are variables of a module, somewhere
    if (n)
        noted = visible_changes;
}

bool gr_mem_host_visible(void) { return host_visible > 0 || gr_vm_mem_used_pageable(gr_cu.mem); }

#define TOOL_MEMORY (1u << 31) // in VmRange.flags; CUDA has no such flag

static bool is_host_visible(const VmRange *r) {
    return (r->kind == VM_MEM_MANAGED || r->kind == VM_MEM_PINNED || r->kind == VM_MEM_HOST) &&
           !(r->flags & TOOL_MEMORY);
}

static GrSharedMemory kind_of(const VmRange *r) {
    return r->kind == VM_MEM_MANAGED  ? GR_SHARED_MANAGED
           : r->kind == VM_MEM_PINNED ? GR_SHARED_PINNED
                                      : GR_SHARED_REGISTERED;
}

// The bytes of the range's whole pages, with what lies behind its end. (Registered memory has the program's size.)
static uint64_t bytes_of(const VmRange *r) { return r->room ? r->room : r->size; }

// Counts a range that comes or goes.
static void count_range(const VmRange *r, bool comes) {
    if (!is_host_visible(r))
        return;
    Change c = {comes ? kind_of(r) : GR_SHARED_GONE, r->addr, bytes_of(r)};
    host_visible += comes ? 1 : UINT64_MAX;
    visible_changes++;
    if (changes.len >= NOTED_MOST || !gr_vec_push(&changes, c)) {
        changes.len = 0;
        noted = visible_changes;
    }
}

__attribute__((visibility("default"))) void gr_cpu_device_tool_memory(const void *address) {
    gr_cu_lock();
    VmRange *r = gr_cu.initialized ? gr_vm_mem_find(gr_cu.mem, (uint64_t)(uintptr_t)address) : NULL;
    if (r && is_host_visible(r)) {
        count_range(r, false);
        r->flags |= TOOL_MEMORY;
    }
    gr_cu_unlock();
}

static void each_visible(void (*each)(void *user, GrSharedMemory kind, uint64_t at, uint64_t size),
                         void *user) {
    uint64_t left = host_visible;
    const VmRange *r = left ? gr_vm_mem_after(gr_cu.mem, 0) : NULL;
    each(user, GR_SHARED_ANEW, 0, 0);
    for (; r && left; r = gr_vm_mem_after(gr_cu.mem, r->addr)) {
        if (!is_host_visible(r))
            continue;
        each(user, kind_of(r), r->addr, bytes_of(r));
        left--;
    }
}

__attribute__((visibility("default"))) uint64_t gr_cpu_device_shared_memory(
    uint64_t since, void (*each)(void *user, GrSharedMemory kind, uint64_t at, uint64_t size), void *user) {
    if (!gr_cu.initialized)
        return 0;
    if (!each)
        return visible_changes;
    if (since < noted)
        each_visible(each, user);
    for (size_t k = since < noted ? changes.len : since - noted; k < changes.len; k++)
        each(user, changes.data[k].kind, changes.data[k].at, changes.data[k].size);
    changes.len = 0;
    noted = visible_changes;
    return visible_changes;
}

__attribute__((visibility("default"))) int gr_cpu_device_used_pageable(void) {
    return gr_cu.initialized && gr_vm_mem_used_pageable(gr_cu.mem);
}

void *gr_mem_device_view(CUdeviceptr addr, size_t size) { return gr_vm_mem_view(gr_cu.mem, addr, size); }

CUresult gr_mem_alloc(Ctx *ctx, VmMemKind kind, size_t size, unsigned flags, VmRange **out) {
    VmRange *r = NULL;
    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    gr_status st =
        gr_vm_mem_alloc(gr_cu.mem, kind, kind == VM_MEM_PINNED ? -1 : ctx->dev->ordinal, size, 256, &r, NULL);
    if (st != GR_OK)
        return st == GR_ERR_LIMIT ? CUDA_ERROR_OUT_OF_MEMORY : gr_cu_status(st);
    r->flags = flags;
    r->user = ctx;
    if (!gr_map_put_u64(&ctx->allocs, r->addr, r)) {
        gr_vm_mem_free(gr_cu.mem, r->addr, NULL);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    count_range(r, true);
    *out = r;
    return CUDA_SUCCESS;
}

// Takes the range from the program.
static void take(VmRange *r) {
    Ctx *ctx = gr_cu_handle(r->user, HANDLE_CTX);
    if (ctx)
        gr_map_remove_u64(&ctx->allocs, r->addr);
    count_range(r, false);
    gr_pool_forget(r);
    gr_advice_forget(r->addr);
}

CUresult gr_mem_free_now(uint64_t addr) {
    VmRange *r = gr_vm_mem_find(gr_cu.mem, addr);
    if (!r || r->addr != addr)
        return CUDA_ERROR_INVALID_VALUE;
    take(r);
    return gr_cu_status(gr_vm_mem_free(gr_cu.mem, addr, NULL));
}

void gr_mem_retire(uint64_t addr, uint64_t last_launch) {
    VmRange *r = gr_vm_mem_find(gr_cu.mem, addr);
    if (!r || r->addr != addr)
        return;
    take(r);
    (void)gr_vm_mem_retire(gr_cu.mem, addr, last_launch);
}

void gr_mem_drop_retired(uint64_t addr) { (void)gr_vm_mem_free(gr_cu.mem, addr, NULL); }

// ---- Device and managed memory -----------------------------------------------------------------------------

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    uint64_t used, all;
    gr_vm_mem_info(gr_cu.mem, c->dev->ordinal, &used, &all);
    if (free_bytes)
        *free_bytes = all - used;
    if (total)
        *total = all;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    VmRange *r = NULL;
    CUresult st = out ? gr_mem_alloc(c, VM_MEM_DEVICE, size, 0, &r) : CUDA_ERROR_INVALID_VALUE;
    if (st == CUDA_SUCCESS)
        *out = r->addr;
    return gr_cu_leave(st);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                            unsigned int element) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    VmRange *r = NULL;
    size_t row = (width + 511) & ~(size_t)511, size;
    if (!out || !pitch || width == 0 || height == 0 || row < width ||
        (element != 4 && element != 8 && element != 16) || __builtin_mul_overflow(row, height, &size))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    CUresult st = gr_mem_alloc(c, VM_MEM_DEVICE, size, 0, &r);
    if (st == CUDA_SUCCESS) {
        *out = r->addr;
        *pitch = row;
    }
    return gr_cu_leave(st);
}

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned int flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    VmRange *r = NULL;
    if (!out || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    CUresult st = gr_mem_alloc(c, VM_MEM_MANAGED, size, flags, &r);
    if (st == CUDA_SUCCESS)
        *out = r->addr;
    return gr_cu_leave(st);
}

// Waits for all work, but not for address 0 or memory of a pool; *out: the range that begins at `addr`. Or fails.
static CUresult enter_freeing(uint64_t addr, VmRange **out) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    VmRange *r = addr ? gr_vm_mem_find(gr_cu.mem, addr) : NULL;
    if (r && r->pool && gr_graph_memory(addr)) // what is at work there goes on: it is a race, and no fault
        gr_queue_outlast();
    else if (addr && !(r && r->pool))
        gr_queue_drain_device();
    r = gr_vm_mem_find(gr_cu.mem, addr);
    *out = r && r->addr == addr ? r : NULL;
    return c->sticky == CUDA_SUCCESS ? CUDA_SUCCESS : gr_cu_leave(c->sticky);
}

CUresult cuMemFree_v2(CUdeviceptr addr) {
    VmRange *r = NULL;
    CUresult st = enter_freeing(addr, &r);
    if (st != CUDA_SUCCESS || addr == 0)
        return st == CUDA_SUCCESS ? gr_cu_leave(st) : st;
    // Variables of modules have no owner here.
    if (!r || !r->user || (r->kind != VM_MEM_DEVICE && r->kind != VM_MEM_MANAGED))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    GraphMemory *m = gr_graph_memory(addr);
    if (m && !m->allocated)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if (r->pool && !m) {
        gr_retire(r);
        return gr_cu_leave(CUDA_SUCCESS);
    }
    if (!m)
        return gr_cu_leave(gr_mem_free_now(addr));
    gr_work_freed(addr, r->size);
    gr_graph_memory_set(m, false);
    m->allocated = false;
    gr_graph_memory_unref(gr_graph_memory_ref(m)); // it may be the last
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- Host memory -------------------------------------------------------------------------------------------

CUresult cuMemHostAlloc(void **out, size_t size, unsigned int flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    VmRange *r = NULL;
    unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (!out || (flags & ~known))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    CUresult st = gr_mem_alloc(c, VM_MEM_PINNED, size, flags, &r);
    if (st == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)r->addr;
    return gr_cu_leave(st);
}

CUresult cuMemAllocHost_v2(void **out, size_t size) {
    return cuMemHostAlloc(out, size, CU_MEMHOSTALLOC_DEVICEMAP);
}

CUresult cuMemFreeHost(void *p) {
    VmRange *r = NULL;
    CUresult st = enter_freeing((uint64_t)(uintptr_t)p, &r);
    if (st != CUDA_SUCCESS || !p)
        return st == CUDA_SUCCESS ? gr_cu_leave(st) : st;
    bool ok = r && r->kind == VM_MEM_PINNED;
    return gr_cu_leave(ok ? gr_mem_free_now(r->addr) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemHostRegister_v2(void *p, size_t size, unsigned int flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                     CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    uint64_t addr = (uint64_t)(uintptr_t)p;
    if (!p || size == 0 || addr + size < addr || (flags & ~known))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    const VmRange *there = gr_vm_mem_find(gr_cu.mem, addr);
    if (there && there->kind != VM_MEM_HOST && there->kind != VM_MEM_PINNED)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if (there || gr_vm_mem_find(gr_cu.mem, addr + size - 1))
        return gr_cu_leave(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    VmRange *r = NULL;
    CUresult st = gr_cu_status(gr_vm_mem_register(gr_cu.mem, p, size, flags, &r, NULL));
    if (st == CUDA_SUCCESS) {
        r->flags = flags;
        r->user = c;
        count_range(r, true);
    }
    return gr_cu_leave(st);
}

CUresult cuMemHostRegister(void *p, size_t size, unsigned int flags) {
    return cuMemHostRegister_v2(p, size, flags);
}

CUresult cuMemHostUnregister(void *p) {
    VmRange *r = NULL;
    CUresult st = enter_freeing((uint64_t)(uintptr_t)p, &r);
    if (st != CUDA_SUCCESS)
        return st;
    if (!p || !r || r->kind != VM_MEM_HOST) // within registered memory, but not at its start: no valid value
        return gr_cu_leave(p && !gr_vm_mem_find(gr_cu.mem, (uint64_t)(uintptr_t)p)
                               ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                               : CUDA_ERROR_INVALID_VALUE);
    count_range(r, false);
    return gr_cu_leave(gr_cu_status(gr_vm_mem_unregister(gr_cu.mem, p, NULL)));
}

// Pinned and registered memory has one address for host and device.
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *p, unsigned int flags) {
    API_ENTER(API_CONTEXT, NULL);
    VmRange *r = gr_vm_mem_find(gr_cu.mem, (uint64_t)(uintptr_t)p);
    if (!out || flags || !r || (r->kind != VM_MEM_PINNED && r->kind != VM_MEM_HOST))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *out = (CUdeviceptr)(uintptr_t)p;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *p) {
    API_ENTER(API_CONTEXT, NULL);
    VmRange *r = gr_vm_mem_find(gr_cu.mem, (uint64_t)(uintptr_t)p);
    if (!flags || !r || (r->kind != VM_MEM_PINNED && r->kind != VM_MEM_HOST))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = (r->flags & ~TOOL_MEMORY) | CU_MEMHOSTALLOC_DEVICEMAP;
    return gr_cu_leave(CUDA_SUCCESS);
}

__attribute__((visibility("default"))) unsigned long long gr_cpu_device_take(size_t size) {
    gr_cu_lock();
    VmRange *r = NULL;
    static uint64_t taken;
    uint64_t most = gr_cu.config.tool;
    bool room = !most || (size <= most && taken <= most - size);
    if (room && gr_cu.initialized && !gr_cu.forked)
        (void)gr_vm_mem_alloc(gr_cu.mem, VM_MEM_INTERNAL, 0, size, 256, &r, NULL);
    taken += r ? size : 0;
    gr_cu_unlock();
    return r ? r->addr : 0;
}

__attribute__((visibility("default"))) int gr_cpu_device_write(unsigned long long at, const void *bytes,
                                                               size_t n) {
    gr_cu_lock();
    void *view = gr_cu.initialized && !gr_cu.forked ? gr_vm_mem_view(gr_cu.mem, at, n) : NULL;
    if (view)
        memcpy(view, bytes, n);
    gr_cu_unlock();
    return view ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

__attribute__((visibility("default"))) void *gr_cpu_device_view(unsigned long long at, size_t n) {
    return gr_cu.initialized && !gr_cu.forked ? gr_vm_mem_view(gr_cu.mem, at, n) : NULL;
}
