// SPDX-License-Identifier: Apache-2.0
// device — what devices there are, what they can do, and their limits.
//
// Device attributes and limits have the same numbers in the runtime and in the driver, so most calls pass
// through; cudaDeviceProp is filled from attributes by a table.
#include "driver/cudart/runtime.h"

#include <string.h>

_Static_assert((int)cudaDevAttrMaxThreadsPerBlock == (int)CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
               "attributes");
_Static_assert((int)cudaDevAttrCooperativeLaunch == (int)CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
               "attributes");
_Static_assert((int)cudaDevAttrHostMemoryPoolsSupported ==
                   (int)CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED,
               "attributes");
_Static_assert((int)cudaLimitMallocHeapSize == (int)CU_LIMIT_MALLOC_HEAP_SIZE, "limits");
_Static_assert((int)cudaLimitPersistingL2CacheSize == (int)CU_LIMIT_PERSISTING_L2_CACHE_SIZE, "limits");
_Static_assert((int)cudaFuncCachePreferEqual == (int)CU_FUNC_CACHE_PREFER_EQUAL, "cache configurations");

typedef struct PropertyRow {
    size_t offset;
    bool wide; // size_t, else int
    CUdevice_attribute attribute;
} PropertyRow;

#define INT(field, attribute)                                                                                \
    { offsetof(DeviceProp, field), false, CU_DEVICE_ATTRIBUTE_##attribute }
#define SIZE(field, attribute)                                                                               \
    { offsetof(DeviceProp, field), true, CU_DEVICE_ATTRIBUTE_##attribute }

static const PropertyRow property_rows[] = {
    SIZE(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK),
    INT(regsPerBlock, MAX_REGISTERS_PER_BLOCK),
    INT(warpSize, WARP_SIZE),
    SIZE(memPitch, MAX_PITCH),
    INT(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
    INT(maxThreadsDim[0], MAX_BLOCK_DIM_X),
    INT(maxThreadsDim[1], MAX_BLOCK_DIM_Y),
    INT(maxThreadsDim[2], MAX_BLOCK_DIM_Z),
    INT(maxGridSize[0], MAX_GRID_DIM_X),
    INT(maxGridSize[1], MAX_GRID_DIM_Y),
    INT(maxGridSize[2], MAX_GRID_DIM_Z),
    SIZE(totalConstMem, TOTAL_CONSTANT_MEMORY),
    INT(major, COMPUTE_CAPABILITY_MAJOR),
    INT(minor, COMPUTE_CAPABILITY_MINOR),
    SIZE(textureAlignment, TEXTURE_ALIGNMENT),
    SIZE(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT),
    INT(multiProcessorCount, MULTIPROCESSOR_COUNT),
    INT(integrated, INTEGRATED),
    INT(canMapHostMemory, CAN_MAP_HOST_MEMORY),
    INT(maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH),
    INT(maxTexture1DMipmap, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH),
    INT(maxTexture2D[0], MAXIMUM_TEXTURE2D_WIDTH),
    INT(maxTexture2D[1], MAXIMUM_TEXTURE2D_HEIGHT),
    INT(maxTexture2DMipmap[0], MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
    INT(maxTexture2DMipmap[1], MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT),
    INT(maxTexture2DLinear[0], MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
    INT(maxTexture2DLinear[1], MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
    INT(maxTexture2DLinear[2], MAXIMUM_TEXTURE2D_LINEAR_PITCH),
    INT(maxTexture2DGather[0], MAXIMUM_TEXTURE2D_GATHER_WIDTH),
    INT(maxTexture2DGather[1], MAXIMUM_TEXTURE2D_GATHER_HEIGHT),
    INT(maxTexture3D[0], MAXIMUM_TEXTURE3D_WIDTH),
    INT(maxTexture3D[1], MAXIMUM_TEXTURE3D_HEIGHT),
    INT(maxTexture3D[2], MAXIMUM_TEXTURE3D_DEPTH),
    INT(maxTexture3DAlt[0], MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE),
    INT(maxTexture3DAlt[1], MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE),
    INT(maxTexture3DAlt[2], MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE),
    INT(maxTextureCubemap, MAXIMUM_TEXTURECUBEMAP_WIDTH),
    INT(maxTexture1DLayered[0], MAXIMUM_TEXTURE1D_LAYERED_WIDTH),
    INT(maxTexture1DLayered[1], MAXIMUM_TEXTURE1D_LAYERED_LAYERS),
    INT(maxTexture2DLayered[0], MAXIMUM_TEXTURE2D_LAYERED_WIDTH),
    INT(maxTexture2DLayered[1], MAXIMUM_TEXTURE2D_LAYERED_HEIGHT),
    INT(maxTexture2DLayered[2], MAXIMUM_TEXTURE2D_LAYERED_LAYERS),
    INT(maxTextureCubemapLayered[0], MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH),
    INT(maxTextureCubemapLayered[1], MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS),
    INT(maxSurface1D, MAXIMUM_SURFACE1D_WIDTH),
    INT(maxSurface2D[0], MAXIMUM_SURFACE2D_WIDTH),
    INT(maxSurface2D[1], MAXIMUM_SURFACE2D_HEIGHT),
    INT(maxSurface3D[0], MAXIMUM_SURFACE3D_WIDTH),
    INT(maxSurface3D[1], MAXIMUM_SURFACE3D_HEIGHT),
    INT(maxSurface3D[2], MAXIMUM_SURFACE3D_DEPTH),
    INT(maxSurface1DLayered[0], MAXIMUM_SURFACE1D_LAYERED_WIDTH),
    INT(maxSurface1DLayered[1], MAXIMUM_SURFACE1D_LAYERED_LAYERS),
    INT(maxSurface2DLayered[0], MAXIMUM_SURFACE2D_LAYERED_WIDTH),
    INT(maxSurface2DLayered[1], MAXIMUM_SURFACE2D_LAYERED_HEIGHT),
    INT(maxSurface2DLayered[2], MAXIMUM_SURFACE2D_LAYERED_LAYERS),
    INT(maxSurfaceCubemap, MAXIMUM_SURFACECUBEMAP_WIDTH),
    INT(maxSurfaceCubemapLayered[0], MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH),
    INT(maxSurfaceCubemapLayered[1], MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS),
    SIZE(surfaceAlignment, SURFACE_ALIGNMENT),
    INT(concurrentKernels, CONCURRENT_KERNELS),
    INT(ECCEnabled, ECC_ENABLED),
    INT(pciBusID, PCI_BUS_ID),
    INT(pciDeviceID, PCI_DEVICE_ID),
    INT(pciDomainID, PCI_DOMAIN_ID),
    INT(tccDriver, TCC_DRIVER),
    INT(asyncEngineCount, ASYNC_ENGINE_COUNT),
    INT(unifiedAddressing, UNIFIED_ADDRESSING),
    INT(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH),
    INT(l2CacheSize, L2_CACHE_SIZE),
    INT(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE),
    INT(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR),
    INT(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED),
    INT(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED),
    INT(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED),
    SIZE(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    INT(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR),
    INT(managedMemory, MANAGED_MEMORY),
    INT(isMultiGpuBoard, MULTI_GPU_BOARD),
    INT(multiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID),
    INT(hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED),
    INT(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS),
    INT(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS),
    INT(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED),
    INT(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
    INT(cooperativeLaunch, COOPERATIVE_LAUNCH),
    SIZE(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    INT(pageableMemoryAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
    INT(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
    INT(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR),
    INT(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE),
    SIZE(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK),
    INT(hostRegisterSupported, HOST_REGISTER_SUPPORTED),
    INT(sparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED),
    INT(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED),
    INT(timelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED),
    INT(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED),
    INT(gpuDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED),
    INT(gpuDirectRDMAFlushWritesOptions, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS),
    INT(gpuDirectRDMAWritesOrdering, GPU_DIRECT_RDMA_WRITES_ORDERING),
    INT(memoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES),
    INT(deferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED),
    INT(ipcEventSupported, IPC_EVENT_SUPPORTED),
    INT(clusterLaunch, CLUSTER_LAUNCH),
    INT(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS),
#if GR_RT_MAJOR == 12
    INT(clockRate, CLOCK_RATE),
    INT(deviceOverlap, GPU_OVERLAP),
    INT(kernelExecTimeoutEnabled, KERNEL_EXEC_TIMEOUT),
    INT(computeMode, COMPUTE_MODE),
    INT(maxTexture1DLinear, MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
    INT(memoryClockRate, MEMORY_CLOCK_RATE),
    INT(singleToDoublePrecisionPerfRatio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO),
    INT(cooperativeMultiDeviceLaunch, COOPERATIVE_MULTI_DEVICE_LAUNCH),
#else
    INT(deviceNumaConfig, NUMA_CONFIG),
    INT(deviceNumaId, NUMA_ID),
    INT(mpsEnabled, MPS_ENABLED),
    INT(hostNumaId, HOST_NUMA_ID),
    INT(gpuPciDeviceID, GPU_PCI_DEVICE_ID),
    INT(gpuPciSubsystemID, GPU_PCI_SUBSYSTEM_ID),
    INT(hostNumaMultinodeIpcSupported, HOST_NUMA_MULTINODE_IPC_SUPPORTED),
#endif
};
#undef INT
#undef SIZE

// Loads the driver and gives the driver's handle of a device.
static cudaError_t open_device(int device, CUdevice *handle) {
    cudaError_t e = gr_rt_load();
    return e != cudaSuccess ? e : gr_rt_translate(gr_rt_legacy.cuDeviceGet(handle, device));
}

cudaError_t CUDARTAPI cudaGetDeviceCount(int *count) {
    GR_RT_REQUIRE(count != NULL, cudaErrorInvalidValue);
    *count = 0;
    cudaError_t e = gr_rt_load();
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuDeviceGetCount(count));
    if (e == cudaSuccess && *count == 0)
        e = cudaErrorNoDevice;
    return gr_rt_leave(e);
}

static cudaError_t get_properties(DeviceProp *prop, int device) {
    CUdevice handle = 0;
    cudaError_t e = open_device(device, &handle);
    if (e != cudaSuccess)
        return e;
    memset(prop, 0, sizeof *prop);
    e = gr_rt_translate(gr_rt_legacy.cuDeviceGetName(prop->name, (int)sizeof prop->name, handle));
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuDeviceTotalMem(&prop->totalGlobalMem, handle));
    CUuuid uuid;
    _Static_assert(sizeof uuid == sizeof prop->uuid, "a UUID has 16 bytes");
    if (e == cudaSuccess && gr_rt_legacy.cuDeviceGetUuid(&uuid, handle) == CUDA_SUCCESS)
        memcpy(&prop->uuid, &uuid, sizeof uuid);
    for (size_t i = 0; e == cudaSuccess && i < sizeof property_rows / sizeof property_rows[0]; i++) {
        const PropertyRow *row = &property_rows[i];
        int value = 0;
        // An attribute that an older driver does not know stays 0: the device cannot do it.
        if (gr_rt_legacy.cuDeviceGetAttribute(&value, row->attribute, handle) != CUDA_SUCCESS)
            value = 0;
        size_t wide = (size_t)(unsigned)value;
        if (row->wide)
            memcpy((char *)prop + row->offset, &wide, sizeof wide);
        else
            memcpy((char *)prop + row->offset, &value, sizeof value);
    }
    return e;
}

cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device) {
    GR_RT_REQUIRE(prop != NULL, cudaErrorInvalidValue);
    return gr_rt_leave(get_properties((DeviceProp *)prop, device));
}

cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device) {
    CUdevice handle = 0;
    GR_RT_REQUIRE(value != NULL, cudaErrorInvalidValue);
    cudaError_t e = open_device(device, &handle);
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuDeviceGetAttribute(value, (CUdevice_attribute)attr, handle));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice,
                                                int dstDevice) {
    CUdevice src = 0, dst = 0;
    cudaError_t e = open_device(srcDevice, &src);
    if (e == cudaSuccess)
        e = open_device(dstDevice, &dst);
    if (e == cudaSuccess)
        e = gr_rt_translate(
            gr_rt_legacy.cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attr, src, dst));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice) {
    CUdevice from = 0, to = 0;
    cudaError_t e = open_device(device, &from);
    if (e == cudaSuccess)
        e = open_device(peerDevice, &to);
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuDeviceCanAccessPeer(canAccessPeer, from, to));
    return gr_rt_leave(e);
}

// How many of the wishes in `prop` a device fulfils; a field that is 0 is no wish.
static int fitness(const DeviceProp *wish, const DeviceProp *have) {
    int score = 0;
    if (wish->major != 0 || wish->minor != 0)
        score += have->major > wish->major || (have->major == wish->major && have->minor >= wish->minor);
    score += wish->totalGlobalMem != 0 && have->totalGlobalMem >= wish->totalGlobalMem;
    score += wish->sharedMemPerBlock != 0 && have->sharedMemPerBlock >= wish->sharedMemPerBlock;
    score += wish->multiProcessorCount != 0 && have->multiProcessorCount >= wish->multiProcessorCount;
    score += wish->name[0] != 0 && strncmp(wish->name, have->name, sizeof have->name) == 0;
    return score;
}

cudaError_t CUDARTAPI cudaChooseDevice(int *device, const struct cudaDeviceProp *prop) {
    GR_RT_REQUIRE(device != NULL && prop != NULL, cudaErrorInvalidValue);
    int count = 0, best = -1;
    cudaError_t e = cudaGetDeviceCount(&count);
    for (int i = 0; e == cudaSuccess && i < count; i++) {
        DeviceProp have;
        e = get_properties(&have, i);
        int score = e == cudaSuccess ? fitness((const DeviceProp *)prop, &have) : -1;
        if (score > best) {
            best = score;
            *device = i;
        }
    }
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceGetByPCIBusId(int *device, const char *pciBusId) {
    GR_RT_REQUIRE(device != NULL && pciBusId != NULL, cudaErrorInvalidValue);
    cudaError_t e = gr_rt_load();
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuDeviceGetByPCIBusId(device, pciBusId));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char *pciBusId, int len, int device) {
    CUdevice handle = 0;
    GR_RT_REQUIRE(pciBusId != NULL && len > 0, cudaErrorInvalidValue);
    cudaError_t e = open_device(device, &handle);
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuDeviceGetPCIBusId(pciBusId, len, handle));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    GR_RT_CALL(cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit) {
    GR_RT_CALL(cuCtxGetLimit(pValue, (CUlimit)limit));
}

cudaError_t CUDARTAPI cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig) {
    CUfunc_cache config = CU_FUNC_CACHE_PREFER_NONE;
    GR_RT_REQUIRE(pCacheConfig != NULL, cudaErrorInvalidValue);
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuCtxGetCacheConfig(&config));
    *pCacheConfig = (enum cudaFuncCache)config;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig) {
    GR_RT_CALL(cuCtxSetCacheConfig((CUfunc_cache)cacheConfig));
}

// Deprecated: shared memory banks cannot be configured on any device that CUDA 13 supports. The header
// documents that setting has no effect then, and that the size is a fixed one.
cudaError_t CUDARTAPI cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig) {
    GR_RT_REQUIRE(pConfig != NULL, cudaErrorInvalidValue);
    *pConfig = cudaSharedMemBankSizeFourByte;
    return gr_rt_leave(gr_rt_enter());
}

cudaError_t CUDARTAPI cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
    GR_RT_REQUIRE((unsigned)config <= cudaSharedMemBankSizeEightByte, cudaErrorInvalidValue);
    return gr_rt_leave(gr_rt_enter());
}

cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority) {
    GR_RT_CALL(cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

cudaError_t CUDARTAPI cudaCtxResetPersistingL2Cache(void) { GR_RT_CALL(cuCtxResetPersistingL2Cache()); }

cudaError_t CUDARTAPI
cudaProfilerStart(void); // of cuda_profiler_api.h, not in every distribution of the headers
cudaError_t CUDARTAPI cudaProfilerStop(void);

cudaError_t CUDARTAPI cudaProfilerStart(void) { GR_RT_CALL(cuProfilerStart()); }
cudaError_t CUDARTAPI cudaProfilerStop(void) { GR_RT_CALL(cuProfilerStop()); }

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *runtimeVersion) {
    GR_RT_REQUIRE(runtimeVersion != NULL, cudaErrorInvalidValue);
    *runtimeVersion = GR_RT_VERSION;
    return cudaSuccess;
}

// 0 says that there is no driver, and is no error.
cudaError_t CUDARTAPI cudaDriverGetVersion(int *driverVersion) {
    GR_RT_REQUIRE(driverVersion != NULL, cudaErrorInvalidValue);
    *driverVersion = 0;
    if (gr_rt_load() == cudaErrorInsufficientDriver)
        return cudaSuccess;
    return gr_rt_leave(gr_rt_translate(gr_rt_legacy.cuDriverGetVersion(driverVersion)));
}
