// SPDX-License-Identifier: Apache-2.0
// context — contexts, primary and created ones, the stack of current ones of each thread, and their limits.
//
// A context is a device, streams, modules and allocations. The primary context object of a device lives as long as
// the process: releasing or resetting it frees what is in it, and a fault is forgotten then.
#include "driver/cuda/capture.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/module.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

enum { STACK_DEPTH = 64 };

static _Thread_local CtxRef stack[STACK_DEPTH];
static _Thread_local unsigned depth;

CtxRef gr_ctx_ref(Ctx *ctx) { return (CtxRef){ctx, ctx ? ctx->id : 0}; }

Ctx *gr_ctx_of(CtxRef ref) {
    Ctx *c = gr_cu_handle(ref.ctx, HANDLE_CTX);
    return c && c->id == ref.id ? c : NULL;
}

Ctx *gr_ctx_current(void) { return depth ? gr_ctx_of(stack[depth - 1]) : NULL; }

// ---- Life --------------------------------------------------------------------------------------------------

static void default_limits(Ctx *c) {
    memset(c->limits, 0, sizeof c->limits);
    c->dev->printf_bytes = GR_PRINTF_BYTES;
    c->limits[CU_LIMIT_STACK_SIZE] = 1024;
    c->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = GR_PRINTF_BYTES;
    c->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = gr_cu.config.heap ? gr_cu.config.heap : 8 << 20;
    c->limits[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] =
        (32 << 20) * 3 / 10; // of what the attributes say is the most
    c->limits[CU_LIMIT_SHMEM_SIZE] = c->dev->props->shared_per_block_optin;
    c->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    c->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    c->cache = CU_FUNC_CACHE_PREFER_NONE;
    c->shared = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
}

static CUresult create(Dev *dev, unsigned flags, bool primary, Ctx **out) {
    Ctx *c = calloc(1, sizeof *c);
    if (!c || !gr_cu_handle_add(c, HANDLE_CTX)) {
        free(c);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    c->id = ++gr_cu.next_id;
    c->dev = dev;
    c->flags = flags;
    c->is_primary = primary;
    c->api_version = 3020;
    default_limits(c);
    c->legacy = gr_stream_new(c, 0, 0);
    if (!c->legacy) {
        gr_cu_handle_remove(c);
        free(c);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = c;
    return CUDA_SUCCESS;
}

void gr_ctx_fail(Ctx *ctx, CUresult code) {
    if (ctx->sticky == CUDA_SUCCESS)
        ctx->sticky = code;
    gr_queue_cancel(ctx);
}

// Frees all that is in the context, which stays usable.
static void clear(Ctx *c) {
    gr_queue_cancel(c);
    gr_queue_drain_ctx(c); // host functions that run, and callbacks that are owed
    for (size_t i = 0; i < c->modules.len; i++)
        gr_module_free(c->modules.data[i]);
    gr_vec_free(&c->modules);
    for (size_t i = 0; i < c->allocs.len; i++) {
        if (c->allocs.entries[i].live)
            gr_mem_free_now(c->allocs.entries[i].key);
    }
    gr_map_free(&c->allocs);
    c->allocs = (Map){0};
    for (Stream *s = gr_queue_stream(NULL), *next; s; s = next) {
        next = gr_queue_stream(s);
        if (s->ctx != c || s == c->legacy || s->head)
            continue;
        gr_capture_forget(s);
        gr_queue_remove_stream(s);
        gr_cu_handle_remove(s);
        free(s);
    }
    c->sticky = CUDA_SUCCESS;
    c->peers = 0;
    default_limits(c);
}

static void destroy(Ctx *c) {
    clear(c);
    gr_queue_remove_stream(c->legacy);
    gr_cu_handle_remove(c->legacy);
    free(c->legacy);
    gr_cu_handle_remove(c);
    free(c);
}

// ---- Primary contexts --------------------------------------------------------------------------------------

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
    API_ENTER(API_INIT, NULL);
    Dev *d = gr_cu_device(device);
    if (!out || !d)
        return gr_cu_leave(out ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE);
    if (!d->primary) {
        CUresult r = create(d, d->primary_flags, true, &d->primary);
        if (r != CUDA_SUCCESS)
            return gr_cu_leave(r);
    }
    d->primary_refs++;
    *out = (CUcontext)d->primary;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    API_ENTER(API_INIT, NULL);
    Dev *d = gr_cu_device(device);
    if (!d)
        return gr_cu_leave(CUDA_ERROR_INVALID_DEVICE);
    if (d->primary_refs == 0)
        return gr_cu_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (--d->primary_refs == 0) {
        gr_queue_drain_ctx(d->primary);
        clear(d->primary);
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    API_ENTER(API_INIT, NULL);
    Dev *d = gr_cu_device(device);
    if (!d)
        return gr_cu_leave(CUDA_ERROR_INVALID_DEVICE);
    if (d->primary) {
        gr_queue_drain_ctx(d->primary);
        clear(d->primary);
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
    API_ENTER(API_INIT, NULL);
    Dev *d = gr_cu_device(device);
    if (!d || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
        return gr_cu_leave(d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE);
    d->primary_flags = flags;
    if (d->primary)
        d->primary->flags = flags;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    API_ENTER(API_INIT, NULL);
    Dev *d = gr_cu_device(device);
    if (!d || !flags || !active)
        return gr_cu_leave(d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE);
    *flags = d->primary_flags;
    *active = d->primary_refs > 0;
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- Created contexts --------------------------------------------------------------------------------------

static CUresult push(Ctx *c) {
    if (depth == STACK_DEPTH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack[depth++] = gr_ctx_ref(c);
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice device) {
    API_ENTER(API_INIT, NULL);
    Dev *d = gr_cu_device(device);
    if (!out || !d || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
        return gr_cu_leave(d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE);
    Ctx *c = NULL;
    CUresult r = create(d, flags, false, &c);
    if (r == CUDA_SUCCESS && (r = push(c)) != CUDA_SUCCESS)
        destroy(c);
    if (r == CUDA_SUCCESS)
        *out = (CUcontext)c;
    return gr_cu_leave(r);
}

CUresult cuCtxCreate(CUcontext *out, unsigned int flags, CUdevice device) {
    return cuCtxCreate_v2(out, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *params, int n, unsigned int flags,
                        CUdevice device) {
    if (n != 0) // SM affinity is a matter of MPS
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    (void)params;
    return cuCtxCreate_v2(out, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned int flags, CUdevice device) {
    if (params && (params->numExecAffinityParams || params->cigParams))
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(out, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
    API_ENTER(API_INIT, NULL);
    Ctx *c = gr_cu_handle(handle, HANDLE_CTX);
    if (!c || c->is_primary)
        return gr_cu_leave(CUDA_ERROR_INVALID_CONTEXT);
    gr_queue_drain_ctx(c);
    if (gr_ctx_current() == c)
        depth--;
    destroy(c);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxDestroy(CUcontext handle) { return cuCtxDestroy_v2(handle); }

CUresult cuCtxAttach(CUcontext *out, unsigned int flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    if (!out || flags)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *out = (CUcontext)c;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxDetach(CUcontext handle) { return cuCtxDestroy_v2(handle); }

// ---- The current context -----------------------------------------------------------------------------------

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    API_ENTER(API_INIT, NULL);
    Ctx *c = gr_cu_handle(handle, HANDLE_CTX);
    return gr_cu_leave(c ? push(c) : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult cuCtxPushCurrent(CUcontext handle) { return cuCtxPushCurrent_v2(handle); }

CUresult cuCtxPopCurrent_v2(CUcontext *out) {
    API_ENTER(API_INIT, NULL);
    Ctx *c = gr_ctx_current();
    if (depth == 0)
        return gr_cu_leave(CUDA_ERROR_INVALID_CONTEXT);
    depth--;
    if (out)
        *out = (CUcontext)c;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxPopCurrent(CUcontext *out) { return cuCtxPopCurrent_v2(out); }

CUresult cuCtxSetCurrent(CUcontext handle) {
    API_ENTER(API_INIT, NULL);
    Ctx *c = gr_cu_handle(handle, HANDLE_CTX);
    if (handle && !c)
        return gr_cu_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (depth > 0)
        depth--;
    return gr_cu_leave(c ? push(c) : CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *out) {
    API_ENTER(API_INIT, NULL);
    if (!out)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *out = (CUcontext)gr_ctx_current();
    return gr_cu_leave(CUDA_SUCCESS);
}

// The context named, or the current one for NULL.
static Ctx *named(CUcontext handle) { return handle ? gr_cu_handle(handle, HANDLE_CTX) : gr_ctx_current(); }

CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext handle) {
    API_ENTER(API_INIT, NULL);
    Ctx *c = named(handle);
    if (!c || !out)
        return gr_cu_leave(c ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT);
    *out = c->dev->ordinal;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxGetDevice(CUdevice *out) { return cuCtxGetDevice_v2(out, NULL); }

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id) {
    API_ENTER(API_INIT, NULL);
    Ctx *c = named(handle);
    if (!c || !id)
        return gr_cu_leave(c ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT);
    *id = c->id;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version) {
    API_ENTER(API_INIT, NULL);
    Ctx *c = named(handle);
    if (!c || !version)
        return gr_cu_leave(c ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT);
    *version = c->api_version;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
    API_ENTER(API_INIT, NULL);
    Ctx *c = named(handle);
    if (c && gr_capture_forbids(c))
        return gr_cu_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return gr_cu_leave(c ? gr_queue_drain_ctx(c) : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult cuCtxSynchronize(void) { return cuCtxSynchronize_v2(NULL); }

// ---- Its settings: kept, and answered; only the limits of the device itself have an effect -----------------

CUresult cuCtxGetFlags(unsigned int *flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    if (!flags)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = c->flags;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxSetFlags(unsigned int flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    c->flags = flags;
    return gr_cu_leave(CUDA_SUCCESS);
}

// The limits of devices of compute capability 9.0.
static bool is_limit(CUlimit limit) {
    return (unsigned)limit < CU_LIMIT_MAX && limit != CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH &&
           limit != CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED;
}

static CUresult no_limit(CUlimit limit) {
    return (unsigned)limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_ERROR_INVALID_VALUE;
}

// An H200 rounds limits to these. A thread has at most 512 KiB of local memory (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
enum { STACK_STEP = 16, STACK_MOST = 512 << 10, HEAP_LEAST = 4 << 20 };
static size_t granted(CUlimit limit, size_t value) {
    switch (limit) {
    case CU_LIMIT_STACK_SIZE: return (value + STACK_STEP - 1) / STACK_STEP * STACK_STEP;
    case CU_LIMIT_MALLOC_HEAP_SIZE: return value > HEAP_LEAST ? value : HEAP_LEAST;
    case CU_LIMIT_PRINTF_FIFO_SIZE: return value > GR_PRINTF_LEAST ? value : GR_PRINTF_LEAST;
    default: return value;
    }
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    if (!is_limit(limit))
        return gr_cu_leave(no_limit(limit));
    if (limit == CU_LIMIT_STACK_SIZE && value > STACK_MOST)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    value = granted(limit, value);
    // The device has one of each; what is queued still gets the old ones.
    if (limit == CU_LIMIT_STACK_SIZE || limit == CU_LIMIT_MALLOC_HEAP_SIZE) {
        CUresult r = gr_queue_drain_ctx(c);
        if (r != CUDA_SUCCESS)
            return gr_cu_leave(r);
    }
    if (limit == CU_LIMIT_PRINTF_FIFO_SIZE)
        c->dev->printf_bytes = value;
    if (limit == CU_LIMIT_STACK_SIZE)
        gr_vm_set_stack(c->dev->vm, (uint32_t)value);
    else if (limit == CU_LIMIT_MALLOC_HEAP_SIZE)
        gr_vm_set_heap(c->dev->vm, value);
    c->limits[limit] = value;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    if (!value || !is_limit(limit))
        return gr_cu_leave(value ? no_limit(limit) : CUDA_ERROR_INVALID_VALUE);
    *value = c->limits[limit];
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    if (!config)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *config = c->cache;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    c->cache = config;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    if (!config)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *config = c->shared;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    (void)config; // the size of banks is fixed since compute capability 5.0
    API_ENTER(API_CONTEXT, NULL);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    API_ENTER(API_CONTEXT, NULL);
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxResetPersistingL2Cache(void) {
    API_ENTER(API_CONTEXT, NULL);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    Ctx *peer = gr_cu_handle(handle, HANDLE_CTX);
    if (!peer || flags || peer->dev == c->dev)
        return gr_cu_leave(peer ? flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
                                : CUDA_ERROR_INVALID_CONTEXT);
    uint64_t bit = UINT64_C(1) << peer->dev->ordinal;
    if (c->peers & bit)
        return gr_cu_leave(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    c->peers |= bit;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuCtxDisablePeerAccess(CUcontext handle) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    Ctx *peer = gr_cu_handle(handle, HANDLE_CTX);
    uint64_t bit = peer ? UINT64_C(1) << peer->dev->ordinal : 0;
    if (!(c->peers & bit))
        return gr_cu_leave(peer ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_CONTEXT);
    c->peers &= ~bit;
    return gr_cu_leave(CUDA_SUCCESS);
}
