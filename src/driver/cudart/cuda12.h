// SPDX-License-Identifier: Apache-2.0
// cuda12 — how libcudart.so.12 differs from libcudart.so.13. Included by runtime.h when GR_RT_MAJOR is 12.
//
// The libraries share their sources, which speak the API of CUDA 13's headers. If CUDA 13 took over what CUDA 12 called
// NAME_v2 (or _v3), the definition is exported under that name; cuda12.c has the old ABI of NAME itself. The public
// headers of CUDA 12.9 say so; its library exports the names of 12.1 to 12.8 and a few more.
#ifndef GR_DRIVER_CUDART_CUDA12_H
#define GR_DRIVER_CUDART_CUDA12_H

#define GR_RT_VERSION 12090

// The structure's fields are those of CUDA 12; the public function takes it as the later header's.
typedef struct DeviceProp12 {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory,
        computeMode, maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2],
        maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3],
        maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3],
        maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2],
        maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
        unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
        maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID,
        hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess,
        concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
        cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
        accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
        timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers,
        reserved[63];
} DeviceProp12;
typedef DeviceProp12 DeviceProp;
_Static_assert(sizeof(DeviceProp12) == 1032, "sizeof(cudaDeviceProp) in CUDA 12");

// In functions of the first compilation a call of the later name also means the renamed one.
#ifndef GR_RT_PER_THREAD
__typeof__(cudaStreamGetCaptureInfo) cudaStreamGetCaptureInfo_v3;
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
__typeof__(cudaStreamUpdateCaptureDependencies) cudaStreamUpdateCaptureDependencies_v2;
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2
__typeof__(cudaGraphAddDependencies) cudaGraphAddDependencies_v2;
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
__typeof__(cudaGraphRemoveDependencies) cudaGraphRemoveDependencies_v2;
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
__typeof__(cudaGraphGetEdges) cudaGraphGetEdges_v2;
#define cudaGraphGetEdges cudaGraphGetEdges_v2
__typeof__(cudaGraphNodeGetDependencies) cudaGraphNodeGetDependencies_v2;
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
__typeof__(cudaGraphNodeGetDependentNodes) cudaGraphNodeGetDependentNodes_v2;
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
__typeof__(cudaGraphAddNode) cudaGraphAddNode_v2;
#define cudaGraphAddNode cudaGraphAddNode_v2
__typeof__(cudaGetDeviceProperties) cudaGetDeviceProperties_v2;
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
__typeof__(cudaMemAdvise) cudaMemAdvise_v2;
#define cudaMemAdvise cudaMemAdvise_v2
__typeof__(cudaMemPrefetchAsync) cudaMemPrefetchAsync_v2;
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2
#else
__typeof__(cudaStreamGetCaptureInfo_ptsz) cudaStreamGetCaptureInfo_v3_ptsz;
#undef cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3_ptsz
__typeof__(cudaStreamUpdateCaptureDependencies_ptsz) cudaStreamUpdateCaptureDependencies_v2_ptsz;
#undef cudaStreamUpdateCaptureDependencies
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2_ptsz
__typeof__(cudaMemPrefetchAsync_ptsz) cudaMemPrefetchAsync_v2_ptsz;
#undef cudaMemPrefetchAsync
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2_ptsz
#endif

#endif
