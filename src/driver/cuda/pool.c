// SPDX-License-Identifier: Apache-2.0
// pool — stream-ordered allocation. The call gets the memory at once, and an item of the stream says from when on it is
// there; it goes when the free's turn in its stream comes. A pool counts what it handed out and keeps its attributes.
// It never reuses memory, so that a use after free faults.
#include "driver/cuda/capture.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/graph.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

MemPool *gr_pool_new(Dev *dev) {
    MemPool *p = calloc(1, sizeof *p);
    if (!p || !gr_cu_handle_add(p, HANDLE_POOL)) {
        free(p);
        return NULL;
    }
    p->dev = dev;
    p->reuse_event = p->reuse_opportunistic = p->reuse_internal = 1;
    return p;
}

CUresult gr_pool_alloc(Ctx *ctx, MemPool *pool, size_t size, CUdeviceptr *out) {
    VmRange *r = NULL;
    CUresult st = out ? gr_mem_alloc(ctx, VM_MEM_DEVICE, size, 0, &r) : CUDA_ERROR_INVALID_VALUE;
    if (st != CUDA_SUCCESS)
        return st;
    if (!gr_map_put_u64(&pool->allocs, r->addr, r)) {
        gr_mem_free_now(r->addr);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    r->pool = pool;
    r->peers = pool->peers;
    pool->used += size;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    *out = r->addr;
    return CUDA_SUCCESS;
}

void gr_pool_forget(VmRange *r) {
    MemPool *pool = r->pool;
    if (!pool)
        return;
    pool->used -= r->size;
    gr_map_remove_u64(&pool->allocs, r->addr);
    r->pool = NULL;
}

static CUresult alloc_in(Stream *s, MemPool *pool, size_t size, CUdeviceptr *out) {
    Item *it = gr_item_new(ITEM_ALLOC);
    CUresult r = it ? gr_pool_alloc(s->ctx, pool, size, out) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        it->address = *out;
        gr_queue_submit(s, it);
    } else if (it) {
        gr_item_free(it);
    }
    return r;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size, CUmemoryPool handle, CUstream stream) {
    Ctx *c = NULL;
    Stream *s = NULL;
    API_ENTER(API_CONTEXT, &c);
    MemPool *pool = gr_cu_handle(handle, HANDLE_POOL);
    CUresult st = gr_stream_get(c, stream, &s);
    if (st == CUDA_SUCCESS && !pool)
        st = CUDA_ERROR_INVALID_VALUE;
    if (st == CUDA_SUCCESS && s->capture)
        return gr_cu_leave(gr_capture_alloc(s, size, out));
    if (st == CUDA_SUCCESS)
        st = gr_capture_unsafe_in(s);
    return gr_cu_leave(st == CUDA_SUCCESS ? alloc_in(s, pool, size, out) : st);
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream stream) {
    Ctx *c = NULL;
    Stream *s = NULL;
    API_ENTER(API_CONTEXT, &c);
    CUresult st = gr_stream_get(c, stream, &s);
    if (st == CUDA_SUCCESS && s->capture)
        return gr_cu_leave(gr_capture_alloc(s, size, out));
    if (st == CUDA_SUCCESS)
        st = gr_capture_unsafe_in(s);
    return gr_cu_leave(st == CUDA_SUCCESS ? alloc_in(s, s->ctx->dev->pool, size, out) : st);
}

CUresult cuMemFreeAsync(CUdeviceptr addr, CUstream stream) {
    Ctx *c = NULL;
    Stream *s = NULL;
    API_ENTER(API_CONTEXT, &c);
    CUresult st = gr_stream_get(c, stream, &s);
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, addr);
    if (st == CUDA_SUCCESS && s->capture)
        return gr_cu_leave(gr_capture_free(s, addr));
    if (st == CUDA_SUCCESS)
        st = gr_capture_unsafe_in(s);
    if (st == CUDA_SUCCESS && (!r || r->addr != addr || !r->user || r->kind != VM_MEM_DEVICE))
        st = CUDA_ERROR_INVALID_VALUE;
    GraphMemory *m = gr_graph_memory(addr);
    if (st == CUDA_SUCCESS && m && !m->allocated)
        st = CUDA_ERROR_INVALID_VALUE;
    if (st != CUDA_SUCCESS)
        return gr_cu_leave(st);
    Item *it = m ? gr_graph_memory_item(m, ITEM_FREE) : gr_item_new(ITEM_FREE);
    if (!it)
        return gr_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    it->address = addr;
    st = gr_submit(s, it);
    if (st == CUDA_SUCCESS && m)
        m->allocated = false;
    return gr_cu_leave(st);
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props) {
    API_ENTER(API_INIT, NULL);
    Dev *d = props ? gr_cu_device(props->location.id) : NULL;
    if (!out || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return gr_cu_leave(CUDA_ERROR_NOT_SUPPORTED);
    if (!d)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    MemPool *p = gr_pool_new(d);
    if (p)
        *out = (CUmemoryPool)p;
    return gr_cu_leave(p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
    API_ENTER(API_INIT, NULL);
    MemPool *p = gr_cu_handle(handle, HANDLE_POOL);
    if (!p || p == p->dev->default_pool)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if (p->dev->pool == p)
        p->dev->pool = p->dev->default_pool;
    // What was allocated from it stays until it is freed.
    for (size_t i = 0; i < p->allocs.len; i++) {
        if (p->allocs.entries[i].live)
            ((VmRange *)p->allocs.entries[i].value)->pool = NULL;
    }
    gr_map_free(&p->allocs);
    gr_cu_handle_remove(p);
    free(p);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep) {
    (void)keep; // nothing is kept
    API_ENTER(API_INIT, NULL);
    return gr_cu_leave(gr_cu_handle(handle, HANDLE_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void *value) {
    API_ENTER(API_INIT, NULL);
    MemPool *p = gr_cu_handle(handle, HANDLE_POOL);
    if (!p || !value)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    const int *flag = value;
    const cuuint64_t *number = value;
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: p->reuse_event = *flag; break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: p->reuse_opportunistic = *flag; break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: p->reuse_internal = *flag; break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: p->release_threshold = *number; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: // both high-water marks can only be reset
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (*number != 0)
            return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
        p->used_high = p->used;
        break;
    default: return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

// A GPU's pool takes so much at a time (observed on an H200); nothing is kept that is not used.
static uint64_t reserved(uint64_t used) {
    const uint64_t chunk = 32 << 20;
    return (used + chunk - 1) / chunk * chunk;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void *value) {
    API_ENTER(API_INIT, NULL);
    const MemPool *p = gr_cu_handle(handle, HANDLE_POOL);
    if (!p || !value)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    int *flag = value;
    cuuint64_t *number = value;
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: *flag = p->reuse_event; break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: *flag = p->reuse_opportunistic; break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: *flag = p->reuse_internal; break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *number = p->release_threshold; break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *number = p->used; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *number = p->used_high; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: *number = reserved(p->used); break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *number = reserved(p->used_high); break;
    default: return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

// Access of devices other than the pool's own.
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t count) {
    API_ENTER(API_INIT, NULL);
    MemPool *p = gr_cu_handle(handle, HANDLE_POOL);
    if (!p || (count && !map))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    uint32_t peers = p->peers;
    for (size_t i = 0; i < count; i++) {
        const CUmemAccessDesc *d = &map[i];
        if (d->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !gr_cu_device(d->location.id))
            return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
        if (d->location.id == p->dev->ordinal && d->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return gr_cu_leave(CUDA_ERROR_INVALID_DEVICE);
        uint32_t bit = UINT32_C(1) << d->location.id;
        peers = d->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ? peers & ~bit : peers | bit;
    }
    p->peers = peers;
    for (size_t i = 0; i < p->allocs.len; i++) {
        if (p->allocs.entries[i].live)
            ((VmRange *)p->allocs.entries[i].value)->peers = peers;
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle, CUmemLocation *location) {
    API_ENTER(API_INIT, NULL);
    const MemPool *p = gr_cu_handle(handle, HANDLE_POOL);
    if (!flags || !location || !p || location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
        !gr_cu_device(location->id))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    bool yes = location->id == p->dev->ordinal || (p->peers >> location->id & 1);
    *flags = yes ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- By location: pools are on devices, and of memory that does not move -------------------------------------

static CUresult locate(const CUmemLocation *l, CUmemAllocationType type, Dev **out) {
    if (!l || type == CU_MEM_ALLOCATION_TYPE_INVALID || type == CU_MEM_ALLOCATION_TYPE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (l->type != CU_MEM_LOCATION_TYPE_DEVICE || type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_NOT_SUPPORTED;
    *out = gr_cu_device(l->id);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *out, CUmemLocation *location, CUmemAllocationType type) {
    Dev *d = NULL;
    API_ENTER(API_INIT, NULL);
    CUresult r = out ? locate(location, type, &d) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUmemoryPool)d->default_pool;
    return gr_cu_leave(r);
}

CUresult cuMemGetMemPool(CUmemoryPool *out, CUmemLocation *location, CUmemAllocationType type) {
    Dev *d = NULL;
    API_ENTER(API_INIT, NULL);
    CUresult r = out ? locate(location, type, &d) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUmemoryPool)d->pool;
    return gr_cu_leave(r);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool handle) {
    Dev *d = NULL;
    API_ENTER(API_INIT, NULL);
    MemPool *pool = gr_cu_handle(handle, HANDLE_POOL);
    CUresult r = locate(location, type, &d);
    if (r == CUDA_SUCCESS && (!pool || pool->dev != d))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        d->pool = pool;
    return gr_cu_leave(r);
}
