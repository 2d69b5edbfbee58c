// SPDX-License-Identifier: Apache-2.0
// memory — allocation, host registration, pointers, symbols and pools. fill.c and copy.c have what takes a stream.
#include "driver/cudart/runtime.h"

#include <string.h>

_Static_assert((int)cudaHostAllocPortable == CU_MEMHOSTALLOC_PORTABLE, "host allocation flags");
_Static_assert((int)cudaHostAllocMapped == CU_MEMHOSTALLOC_DEVICEMAP, "host allocation flags");
_Static_assert((int)cudaHostAllocWriteCombined == CU_MEMHOSTALLOC_WRITECOMBINED, "host allocation flags");
_Static_assert((int)cudaHostRegisterReadOnly == CU_MEMHOSTREGISTER_READ_ONLY, "host registration flags");
_Static_assert((int)cudaMemAttachHost == (int)CU_MEM_ATTACH_HOST, "managed memory flags");
_Static_assert((int)cudaMemLocationTypeHostNuma == (int)CU_MEM_LOCATION_TYPE_HOST_NUMA, "memory locations");
_Static_assert((int)cudaMemAdviseSetAccessedBy == (int)CU_MEM_ADVISE_SET_ACCESSED_BY, "memory advice");
_Static_assert((int)cudaMemRangeAttributeLastPrefetchLocation ==
                   (int)CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
               "memory range attributes");
_Static_assert((int)cudaMemPoolAttrUsedMemHigh == (int)CU_MEMPOOL_ATTR_USED_MEM_HIGH, "pool attributes");
_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "pool properties");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "pool access");
_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "memory locations");

static CUdeviceptr dptr(const void *p) { return (CUdeviceptr)(uintptr_t)p; }

// ---- device memory

// Zero bytes are no error in the runtime, unlike in the driver: there is just no memory.
cudaError_t CUDARTAPI cudaMalloc(void **devPtr, size_t size) {
    GR_RT_REQUIRE(devPtr != NULL, cudaErrorInvalidValue);
    CUdeviceptr p = 0;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess && size != 0)
        e = gr_rt_translate(gr_rt_legacy.cuMemAlloc(&p, size));
    if (e == cudaSuccess)
        *devPtr = (void *)(uintptr_t)p;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaFree(void *devPtr) {
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess && devPtr != NULL)
        e = gr_rt_translate(gr_rt_legacy.cuMemFree(dptr(devPtr)));
    return gr_rt_leave(e);
}

static cudaError_t alloc_pitch(void **devPtr, size_t *pitch, size_t width, size_t height) {
    CUdeviceptr p = 0;
    cudaError_t e = gr_rt_enter();
    *pitch = 0;
    // 16 is the largest element the driver lets one ask for: rows are then aligned for any access.
    if (e == cudaSuccess && width != 0 && height != 0)
        e = gr_rt_translate(gr_rt_legacy.cuMemAllocPitch(&p, pitch, width, height, 16));
    if (e == cudaSuccess)
        *devPtr = (void *)(uintptr_t)p;
    return e;
}

cudaError_t CUDARTAPI cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height) {
    GR_RT_REQUIRE(devPtr != NULL && pitch != NULL, cudaErrorInvalidValue);
    return gr_rt_leave(alloc_pitch(devPtr, pitch, width, height));
}

cudaError_t CUDARTAPI cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent) {
    GR_RT_REQUIRE(pitchedDevPtr != NULL, cudaErrorInvalidValue);
    size_t rows = 0;
    GR_RT_REQUIRE(!__builtin_mul_overflow(extent.height, extent.depth, &rows), cudaErrorMemoryAllocation);
    struct cudaPitchedPtr p = {.xsize = extent.width, .ysize = extent.height};
    cudaError_t e = alloc_pitch(&p.ptr, &p.pitch, extent.width, rows);
    if (e == cudaSuccess)
        *pitchedDevPtr = p;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaMallocManaged(void **devPtr, size_t size, unsigned int flags) {
    GR_RT_REQUIRE(devPtr != NULL, cudaErrorInvalidValue);
    CUdeviceptr p = 0;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess && size) // of nothing there is nothing, as with cudaMalloc
        e = gr_rt_translate(gr_rt_legacy.cuMemAllocManaged(&p, size, flags));
    if (e == cudaSuccess)
        *devPtr = (void *)(uintptr_t)p;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaMemGetInfo(size_t *free, size_t *total) { GR_RT_CALL(cuMemGetInfo(free, total)); }

// ---- host memory

// With a unified address space all pinned memory is portable and mapped (CUDA programming guide, "Unified Virtual
// Address Space"). An H200 says that its flags are mapped, and portable if the program asked for that.
static cudaError_t host_alloc(void **ptr, size_t size, unsigned flags) {
    void *p = NULL;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess && size != 0)
        e = gr_rt_translate(gr_rt_legacy.cuMemHostAlloc(&p, size, flags | CU_MEMHOSTALLOC_DEVICEMAP));
    if (e == cudaSuccess)
        *ptr = p;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaMallocHost(void **ptr, size_t size) {
    GR_RT_REQUIRE(ptr != NULL, cudaErrorInvalidValue);
    return host_alloc(ptr, size, 0);
}

cudaError_t CUDARTAPI cudaHostAlloc(void **pHost, size_t size, unsigned int flags) {
    const unsigned valid = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    GR_RT_REQUIRE(pHost != NULL && (flags & ~valid) == 0, cudaErrorInvalidValue);
    return host_alloc(pHost, size, flags);
}

cudaError_t CUDARTAPI cudaFreeHost(void *ptr) {
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess && ptr != NULL)
        e = gr_rt_translate(gr_rt_legacy.cuMemFreeHost(ptr));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaHostRegister(void *ptr, size_t size, unsigned int flags) {
    GR_RT_REQUIRE(ptr != NULL && size != 0, cudaErrorInvalidValue);
    GR_RT_CALL(
        cuMemHostRegister(ptr, size, flags | CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
}

cudaError_t CUDARTAPI cudaHostUnregister(void *ptr) { GR_RT_CALL(cuMemHostUnregister(ptr)); }

cudaError_t CUDARTAPI cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags) {
    GR_RT_REQUIRE(pDevice != NULL, cudaErrorInvalidValue);
    CUdeviceptr p = 0;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuMemHostGetDevicePointer(&p, pHost, flags));
    *pDevice = (void *)(uintptr_t)p;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaHostGetFlags(unsigned int *pFlags, void *pHost) {
    GR_RT_CALL(cuMemHostGetFlags(pFlags, pHost));
}

// ---- what a pointer is

cudaError_t CUDARTAPI cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr) {
    GR_RT_REQUIRE(attributes != NULL, cudaErrorInvalidValue);
    CUmemorytype type = (CUmemorytype)0;
    unsigned managed = 0;
    int device = 0;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = NULL;
    // The plural call does not fail for memory CUDA knows nothing of: it leaves zeros.
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *values[] = {&type, &managed, &device, &device_pointer, &host_pointer};
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_translate(
            gr_rt_legacy.cuPointerGetAttributes(sizeof names / sizeof names[0], names, values, dptr(ptr)));
    if (e != cudaSuccess)
        return gr_rt_leave(e);
    memset(attributes, 0, sizeof *attributes);
    attributes->device = device;
    attributes->devicePointer = (void *)(uintptr_t)device_pointer;
    attributes->hostPointer = host_pointer;
    if (managed)
        attributes->type = cudaMemoryTypeManaged;
    else if (type == CU_MEMORYTYPE_DEVICE)
        attributes->type = cudaMemoryTypeDevice;
    else if (type == CU_MEMORYTYPE_HOST)
        attributes->type = cudaMemoryTypeHost;
    else {
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = cudaInvalidDeviceId;
        attributes->devicePointer = NULL;
        attributes->hostPointer = (void *)(uintptr_t)ptr; // pageable memory is the host's, by any pointer
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetSymbolAddress(void **devPtr, const void *symbol) {
    GR_RT_REQUIRE(devPtr != NULL, cudaErrorInvalidValue);
    CUdeviceptr address = 0;
    size_t size = 0;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_symbol(symbol, &address, &size);
    if (e == cudaSuccess)
        *devPtr = (void *)(uintptr_t)address;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaGetSymbolSize(size_t *size, const void *symbol) {
    GR_RT_REQUIRE(size != NULL, cudaErrorInvalidValue);
    CUdeviceptr address = 0;
    size_t bytes = 0;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_symbol(symbol, &address, &bytes);
    if (e == cudaSuccess)
        *size = bytes;
    return gr_rt_leave(e);
}

// ---- managed memory

static CUmemLocation driver_location(struct cudaMemLocation l) {
    return (CUmemLocation){.type = (CUmemLocationType)l.type, .id = l.id};
}

cudaError_t CUDARTAPI cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                    struct cudaMemLocation location) {
    GR_RT_CALL(cuMemAdvise(dptr(devPtr), count, (CUmem_advise)advice, driver_location(location)));
}

cudaError_t CUDARTAPI cudaMemRangeGetAttribute(void *data, size_t dataSize,
                                               enum cudaMemRangeAttribute attribute, const void *devPtr,
                                               size_t count) {
    GR_RT_CALL(cuMemRangeGetAttribute(data, dataSize, (CUmem_range_attribute)attribute, dptr(devPtr), count));
}

cudaError_t CUDARTAPI cudaMemRangeGetAttributes(void **data, size_t *dataSizes,
                                                enum cudaMemRangeAttribute *attributes, size_t numAttributes,
                                                const void *devPtr, size_t count) {
    GR_RT_CALL(cuMemRangeGetAttributes(data, dataSizes, (CUmem_range_attribute *)attributes, numAttributes,
                                       dptr(devPtr), count));
}

// ---- pools

static cudaError_t pool_of(int device, cudaMemPool_t *pool, CUresult (*get)(CUmemoryPool *, CUdevice)) {
    CUdevice handle = 0;
    cudaError_t e = gr_rt_translate(gr_rt_legacy.cuDeviceGet(&handle, device));
    return e != cudaSuccess ? e : gr_rt_translate(get(pool, handle));
}

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device) {
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = pool_of(device, memPool, gr_rt_legacy.cuDeviceGetDefaultMemPool);
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device) {
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = pool_of(device, memPool, gr_rt_legacy.cuDeviceGetMemPool);
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
    CUdevice handle = 0;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuDeviceGet(&handle, device));
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuDeviceSetMemPool(handle, memPool));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps) {
    GR_RT_CALL(cuMemPoolCreate(memPool, (const CUmemPoolProps *)poolProps));
}

cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t memPool) { GR_RT_CALL(cuMemPoolDestroy(memPool)); }

cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep) {
    GR_RT_CALL(cuMemPoolTrimTo(memPool, minBytesToKeep));
}

cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value) {
    GR_RT_CALL(cuMemPoolSetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value) {
    GR_RT_CALL(cuMemPoolGetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                                           size_t count) {
    GR_RT_CALL(cuMemPoolSetAccess(memPool, (const CUmemAccessDesc *)descList, count));
}

cudaError_t CUDARTAPI cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                           struct cudaMemLocation *location) {
    GR_RT_CALL(cuMemPoolGetAccess((CUmemAccess_flags *)flags, memPool, (CUmemLocation *)location));
}

_Static_assert((int)cudaMemAllocationTypeManaged == (int)CU_MEM_ALLOCATION_TYPE_MANAGED, "kinds of pools");

cudaError_t CUDARTAPI cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                               enum cudaMemAllocationType type) {
    GR_RT_CALL(cuMemGetDefaultMemPool(memPool, (CUmemLocation *)location, (CUmemAllocationType)type));
}

cudaError_t CUDARTAPI cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                        enum cudaMemAllocationType type) {
    GR_RT_CALL(cuMemGetMemPool(memPool, (CUmemLocation *)location, (CUmemAllocationType)type));
}

cudaError_t CUDARTAPI cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                                        cudaMemPool_t memPool) {
    GR_RT_CALL(cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type, memPool));
}
