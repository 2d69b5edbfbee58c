// SPDX-License-Identifier: Apache-2.0
// Memory that comes and goes.
#include "inject/handlers.h"
#include "inject/launches.h"
#include "inject/memory.h"
#include "inject/naming.h"
#include "inject/session.h"
#include "inject/uses.h"

#include <stdint.h>

static CUresult came(CUresult rc, CUdeviceptr at, size_t size, GrRangeKind kind) {
    if (rc != CUDA_SUCCESS)
        return rc;
    GrRange r = {.at = at, .size = size, .kind = kind};
    if (gr_ranges_are_told()) // else the driver is asked nothing
        r.context = gr_current_context();
    gr_session_lock();
    gr_range_add(&r);
    gr_naming_came(&r);
    gr_session_unlock();
    return rc;
}

static CUresult came_at(CUresult rc, const CUdeviceptr *at, size_t size, GrRangeKind kind) {
    return came(rc, rc == CUDA_SUCCESS && at ? *at : 0, size, kind);
}

// Drops a range. A graph may allocate its memory again at the same place: it has no past then, but it is there.
static void goes(CUdeviceptr at) {
    gr_session_lock();
    const GrRange *r = gr_ranges_are_told() ? gr_range_at(at) : NULL;
    GrRange again = r && r->at == at && r->kind == GR_RANGE_GRAPH ? *r : (GrRange){.at = 0};
    gr_range_remove(at);
    if (again.at)
        gr_range_add(&again);
    else
        gr_naming_went(at);
    gr_session_unlock();
}

// A stream that is being captured makes nodes of a graph.
static GrRangeKind kind_in(CUstream stream) {
    return gr_stream_is_captured(gr_call_stream(stream)) ? GR_RANGE_GRAPH : GR_RANGE_POOL;
}

// ---- the device's --------------------------------------------------------------------------------------------

CUresult gr_on_mem_alloc(CUresult (*real)(CUdeviceptr *, size_t), CUdeviceptr *out, size_t size) {
    CUdeviceptr at = out ? gr_placed_alloc(size) : 0, ticket = 0;
    if (!at)
        return came_at(gr_placed_outside(real(out, size)), out, size, GR_RANGE_DEVICE);
    CUresult rc = real(&ticket, 1);
    rc = gr_placed_keep(rc, at, ticket, 1);
    if (rc == CUDA_SUCCESS)
        *out = at;
    return came(rc, at, size, GR_RANGE_DEVICE);
}

// Only the driver knows the pitch: it allocates a row.
static CUresult alloc_pitch(CUresult (*real)(CUdeviceptr *, size_t *, size_t, size_t, unsigned),
                            CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned element) {
    GrArena arena;
    CUdeviceptr ticket = 0;
    size_t row = 0, size = 0;
    if (!out || !pitch || !height || !gr_arena_of_device(&arena))
        return gr_placed_outside(real(out, pitch, width, height, element));
    CUresult rc = real(&ticket, &row, width, 1, element);
    if (rc != CUDA_SUCCESS)
        return rc;
    CUdeviceptr at = __builtin_mul_overflow(row, height, &size) ? 0 : gr_placed_alloc(size);
    if (!at) {
        CUresult (*release)(CUdeviceptr) = (CUresult(*)(CUdeviceptr))gr_driver_function("cuMemFree");
        (void)release(ticket);
        return gr_placed_outside(real(out, pitch, width, height, element));
    }
    *out = at;
    *pitch = row;
    return gr_placed_keep(rc, at, ticket, row);
}

CUresult gr_on_mem_alloc_pitch(CUresult (*real)(CUdeviceptr *, size_t *, size_t, size_t, unsigned),
                               CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                               unsigned element) {
    CUresult rc = alloc_pitch(real, out, pitch, width, height, element);
    return came_at(rc, out, rc == CUDA_SUCCESS ? *pitch * height : 0, GR_RANGE_DEVICE);
}

CUresult gr_on_mem_alloc_managed(CUresult (*real)(CUdeviceptr *, size_t, unsigned), CUdeviceptr *out,
                                 size_t size, unsigned flags) {
    gr_use_seen(GR_USE_HOST);
    return came_at(real(out, size, flags), out, size, GR_RANGE_MANAGED);
}

CUresult gr_on_mem_alloc_async(CUresult (*real)(CUdeviceptr *, size_t, CUstream), CUdeviceptr *out,
                               size_t size, CUstream stream) {
    GrRangeKind kind = kind_in(stream);
    gr_use_seen(GR_USE_ALLOCATIONS);
    return came_at(real(out, size, stream), out, size, kind);
}

CUresult gr_on_mem_alloc_from_pool(CUresult (*real)(CUdeviceptr *, size_t, CUmemoryPool, CUstream),
                                   CUdeviceptr *out, size_t size, CUmemoryPool pool, CUstream stream) {
    GrRangeKind kind = kind_in(stream);
    gr_use_seen(GR_USE_ALLOCATIONS);
    return came_at(real(out, size, pool, stream), out, size, kind);
}

CUresult gr_on_mem_free(CUresult (*real)(CUdeviceptr), CUdeviceptr p) {
    uint64_t clock = 0;
    CUdeviceptr ticket = gr_placed_leave(p, &clock);
    gr_host_waits(GR_WAIT_ALL, NULL); // the driver waits for the device
    goes(p);
    return ticket ? gr_placed_left(real(ticket), p, clock, false) : real(p);
}

CUresult gr_on_mem_free_async(CUresult (*real)(CUdeviceptr, CUstream), CUdeviceptr p, CUstream stream) {
    uint64_t clock = 0;
    CUdeviceptr ticket = gr_placed_leave(p, &clock);
    goes(p);
    return ticket ? gr_placed_left(real(ticket, stream), p, clock, true) : real(p, stream);
}

// A mapping can be reached once access was given. CUDA takes ranges of whole mappings, here and when it unmaps, and not
// always the same ones together.
CUresult gr_on_mem_set_access(CUresult (*real)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t),
                              CUdeviceptr at, size_t size, const CUmemAccessDesc *desc, size_t n) {
    CUresult rc = real(at, size, desc, n);
    bool some = false;
    for (size_t i = 0; rc == CUDA_SUCCESS && i < n; i++)
        some = some || desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (!some || !gr_ranges_are_told())
        return rc;
    gr_session_lock();
    gr_range_add_mappings(at, size);
    gr_session_unlock();
    return rc;
}

CUresult gr_on_mem_unmap(CUresult (*real)(CUdeviceptr, size_t), CUdeviceptr at, size_t size) {
    gr_session_lock();
    if (gr_ranges_are_told())
        gr_range_remove_mappings(at, size);
    gr_session_unlock();
    return real(at, size);
}

CUresult gr_on_graph_add_alloc(CUresult (*real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
                                                CUDA_MEM_ALLOC_NODE_PARAMS *),
                               CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n,
                               CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    CUresult rc = real(out, graph, after, n, params);
    gr_use_seen(GR_USE_ALLOCATIONS);
    return came(rc, rc == CUDA_SUCCESS ? params->dptr : 0, rc == CUDA_SUCCESS ? params->bytesize : 0,
                GR_RANGE_GRAPH);
}

// ---- the host's ----------------------------------------------------------------------------------------------

// The address by which kernels reach the host's memory; 0: they cannot.
static CUdeviceptr device_view(void *host) {
    CUresult (*get)(CUdeviceptr *, void *, unsigned) =
        (CUresult(*)(CUdeviceptr *, void *, unsigned))gr_driver_function("cuMemHostGetDevicePointer");
    CUdeviceptr at = 0;
    return get && get(&at, host, 0) == CUDA_SUCCESS ? at : 0;
}

static CUresult host_came(CUresult rc, void *host, size_t size, GrRangeKind kind) {
    gr_use_seen(GR_USE_HOST);
    if (rc != CUDA_SUCCESS || !gr_ranges_are_told())
        return rc;
    return came(rc, device_view(host), size, kind);
}

static void host_goes(void *host) {
    if (gr_ranges_are_told())
        goes(device_view(host));
}

CUresult gr_on_mem_alloc_host(CUresult (*real)(void **, size_t), void **out, size_t size) {
    CUresult rc = real(out, size);
    return host_came(rc, rc == CUDA_SUCCESS ? *out : NULL, size, GR_RANGE_PINNED);
}

CUresult gr_on_mem_host_alloc(CUresult (*real)(void **, size_t, unsigned), void **out, size_t size,
                              unsigned flags) {
    CUresult rc = real(out, size, flags);
    return host_came(rc, rc == CUDA_SUCCESS ? *out : NULL, size, GR_RANGE_PINNED);
}

CUresult gr_on_mem_free_host(CUresult (*real)(void *), void *p) {
    gr_host_waits(GR_WAIT_ALL, NULL);
    host_goes(p);
    return real(p);
}

CUresult gr_on_mem_host_register(CUresult (*real)(void *, size_t, unsigned), void *p, size_t size,
                                 unsigned flags) {
    return host_came(real(p, size, flags), p, size, GR_RANGE_REGISTERED);
}

CUresult gr_on_mem_host_unregister(CUresult (*real)(void *), void *p) {
    host_goes(p);
    return real(p);
}

// ---- what the program asks of memory in an arena: the answer is that of its ticket, corrected ----------------------

CUresult gr_on_mem_get_address_range(CUresult (*real)(CUdeviceptr *, size_t *, CUdeviceptr),
                                     CUdeviceptr *base, size_t *size, CUdeviceptr at) {
    GrPlaced b;
    bool inside;
    if (!gr_placed_at(at, &b, &inside))
        return inside ? CUDA_ERROR_NOT_FOUND : real(base, size, at);
    CUresult rc = real(NULL, NULL, b.ticket); // whether it may be asked at all
    if (rc == CUDA_SUCCESS && base)
        *base = b.at;
    if (rc == CUDA_SUCCESS && size)
        *size = b.size;
    return rc;
}

// Corrects what the driver has answered for the ticket.
static void correct(const GrPlaced *b, CUpointer_attribute attribute, void *data, CUdeviceptr at) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = at; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *(CUdeviceptr *)data = b->at; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *(size_t *)data = b->size; break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: *(bool *)data = false; break;
    default: break;
    }
}

CUresult gr_on_pointer_get_attribute(CUresult (*real)(void *, CUpointer_attribute, CUdeviceptr), void *data,
                                     CUpointer_attribute attribute, CUdeviceptr at) {
    GrPlaced b;
    bool inside;
    if (!gr_placed_at(at, &b, &inside))
        return inside ? CUDA_ERROR_INVALID_VALUE : real(data, attribute, at);
    CUresult rc = real(data, attribute, b.ticket);
    if (rc == CUDA_SUCCESS)
        correct(&b, attribute, data, at);
    return rc;
}

CUresult gr_on_pointer_get_attributes(CUresult (*real)(unsigned, CUpointer_attribute *, void **, CUdeviceptr),
                                      unsigned n, CUpointer_attribute *attributes, void **data,
                                      CUdeviceptr at) {
    GrPlaced b;
    bool inside;
    if (!gr_placed_at(at, &b, &inside)) // of a block that is gone nothing is known, as of the null pointer
        return real(n, attributes, data, inside ? 0 : at);
    CUresult rc = real(n, attributes, data, b.ticket);
    for (unsigned i = 0; rc == CUDA_SUCCESS && i < n; i++)
        correct(&b, attributes[i], data[i], at);
    return rc;
}

// ---- What cannot be done with such memory --------------------------------------------------------------------------

static CUresult refuse(const char *what) {
    gr_session_notef("%s: this engine places the program's memory, and there it is not possible", what);
    return CUDA_ERROR_NOT_SUPPORTED;
}

// No engine hears of another process. One that waits at accesses notices the values that another process changes.
static CUresult shared(CUresult rc, const char *call) {
    unsigned caps = gr_session.engine->caps;
    if (rc != CUDA_SUCCESS || !(caps & CAP_CHECKS))
        return rc;
    if (caps & CAP_WINDOWS)
        gr_session_remarkf("memory is shared with another process (%s): of what that process does with it, "
                           "only changed values are noticed",
                           call);
    else
        gr_session_notef(
            "memory is shared with another process (%s), and what that process does with it is not seen",
            call);
    return rc;
}

CUresult gr_on_ipc_get(CUresult (*real)(CUipcMemHandle *, CUdeviceptr), CUipcMemHandle *out, CUdeviceptr at) {
    static const char call[] = "cuIpcGetMemHandle";
    GrPlaced b;
    bool inside;
    return gr_placed_at(at, &b, &inside) ? refuse(call) : shared(real(out, at), call);
}

CUresult gr_on_handle_for_range(CUresult (*real)(void *, CUdeviceptr, size_t, CUmemRangeHandleType,
                                                 unsigned long long),
                                void *out, CUdeviceptr at, size_t size, CUmemRangeHandleType type,
                                unsigned long long flags) {
    GrPlaced b;
    bool inside;
    return gr_placed_at(at, &b, &inside) ? refuse("cuMemGetHandleForAddressRange")
                                         : real(out, at, size, type, flags);
}

CUresult gr_on_pointer_set_attribute(CUresult (*real)(const void *, CUpointer_attribute, CUdeviceptr),
                                     const void *value, CUpointer_attribute attribute, CUdeviceptr at) {
    GrPlaced b;
    bool inside;
    return gr_placed_at(at, &b, &inside) ? refuse("cuPointerSetAttribute") : real(value, attribute, at);
}

// Memory of cuMemAlloc has no handle.
CUresult gr_on_retain_handle(CUresult (*real)(CUmemGenericAllocationHandle *, void *),
                             CUmemGenericAllocationHandle *out, void *at) {
    GrPlaced b;
    bool inside;
    (void)gr_placed_at((CUdeviceptr)(uintptr_t)at, &b, &inside);
    return inside ? CUDA_ERROR_INVALID_VALUE : real(out, at);
}

// ---- of other processes and APIs -------------------------------------------------------------------------------

// Only the driver knows how large it is.
static CUresult imported(CUresult rc, const CUdeviceptr *at) {
    CUresult (*range)(CUdeviceptr *, size_t *, CUdeviceptr) =
        (CUresult(*)(CUdeviceptr *, size_t *, CUdeviceptr))gr_driver_function("cuMemGetAddressRange");
    CUdeviceptr base = 0;
    size_t size = 0;
    if (rc != CUDA_SUCCESS || !at || !range || range(&base, &size, *at) != CUDA_SUCCESS)
        return rc;
    return came(rc, *at, base + size - *at, GR_RANGE_IMPORTED);
}

CUresult gr_on_ipc_open(CUresult (*real)(CUdeviceptr *, CUipcMemHandle, unsigned), CUdeviceptr *out,
                        CUipcMemHandle handle, unsigned flags) {
    return shared(imported(real(out, handle, flags), out), "cuIpcOpenMemHandle");
}

CUresult gr_on_external_buffer(CUresult (*real)(CUdeviceptr *, CUexternalMemory,
                                                const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *),
                               CUdeviceptr *out, CUexternalMemory memory,
                               const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc) {
    CUresult rc = real(out, memory, desc);
    return came_at(rc, out, rc == CUDA_SUCCESS ? desc->size : 0, GR_RANGE_IMPORTED);
}

CUresult gr_on_pool_import(CUresult (*real)(CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *),
                           CUdeviceptr *out, CUmemoryPool pool, CUmemPoolPtrExportData *data) {
    return shared(imported(real(out, pool, data), out), "cuMemPoolImportPointer");
}
