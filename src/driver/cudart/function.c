// SPDX-License-Identifier: Apache-2.0
// function — attributes of kernels, and how many of their blocks fit on the device.
#include "driver/cudart/registration.h"

#include <string.h>

_Static_assert((int)cudaFuncAttributeMaxDynamicSharedMemorySize ==
                   (int)CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
               "function attributes");
_Static_assert((int)cudaFuncAttributeNonPortableClusterSizeAllowed ==
                   (int)CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
               "function attributes");
_Static_assert((int)cudaOccupancyDisableCachingOverride == (int)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE,
               "occupancy");

static cudaError_t as_function_error(cudaError_t e) {
    return e == cudaErrorInvalidResourceHandle ? cudaErrorInvalidDeviceFunction : e;
}

// Enters, and finds the kernel and the device that is asked about.
static cudaError_t enter_kernel(const void *func, CUkernel *kernel, CUdevice *device) {
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_kernel(func, kernel);
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuCtxGetDevice(device));
    return e;
}

// Ends a function of the runtime by a call of the driver about `func`: the call may name `kernel` and `device`.
#define KERNEL_CALL(func, call)                                                                              \
    CUkernel kernel = NULL;                                                                                  \
    CUdevice device = 0;                                                                                     \
    cudaError_t e_ = enter_kernel(func, &kernel, &device);                                                   \
    if (e_ == cudaSuccess)                                                                                   \
        e_ = as_function_error(gr_rt_translate(gr_rt_legacy.call));                                          \
    return gr_rt_leave(e_)

cudaError_t CUDARTAPI cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func) {
    GR_RT_REQUIRE(attr != NULL, cudaErrorInvalidValue);
    CUkernel kernel = NULL;
    CUdevice device = 0;
    int shared = 0, constant = 0, local = 0;
    memset(attr, 0, sizeof *attr);
    const struct {
        int *value;
        CUfunction_attribute attribute;
        bool optional; // an older driver may not know it: 0 is the answer then
    } wanted[] = {
        {&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, false},
        {&constant, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, false},
        {&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, false},
        {&attr->maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, false},
        {&attr->numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS, false},
        {&attr->ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION, false},
        {&attr->binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION, false},
        {&attr->cacheModeCA, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, true},
        {&attr->maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, true},
        {&attr->preferredShmemCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, true},
        {&attr->clusterDimMustBeSet, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, true},
        {&attr->requiredClusterWidth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, true},
        {&attr->requiredClusterHeight, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, true},
        {&attr->requiredClusterDepth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, true},
        {&attr->clusterSchedulingPolicyPreference, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
         true},
        {&attr->nonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, true},
    };
    cudaError_t e = enter_kernel(func, &kernel, &device);
    for (size_t i = 0; e == cudaSuccess && i < sizeof wanted / sizeof wanted[0]; i++) {
        CUresult r = gr_rt_legacy.cuKernelGetAttribute(wanted[i].value, wanted[i].attribute, kernel, device);
        if (r != CUDA_SUCCESS && wanted[i].optional)
            *wanted[i].value = 0;
        else
            e = as_function_error(gr_rt_translate(r));
    }
    attr->sharedSizeBytes = (size_t)shared;
    attr->constSizeBytes = (size_t)constant;
    attr->localSizeBytes = (size_t)local;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value) {
    KERNEL_CALL(func, cuKernelSetAttribute((CUfunction_attribute)attr, value, kernel, device));
}

cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig) {
    KERNEL_CALL(func, cuKernelSetCacheConfig(kernel, (CUfunc_cache)cacheConfig, device));
}

// Deprecated, without effect on devices whose banks are not configurable: all that CUDA 13 supports.
cudaError_t CUDARTAPI cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config) {
    CUkernel kernel = NULL;
    CUdevice device = 0;
    GR_RT_REQUIRE((unsigned)config <= cudaSharedMemBankSizeEightByte, cudaErrorInvalidValue);
    return gr_rt_leave(enter_kernel(func, &kernel, &device));
}

cudaError_t CUDARTAPI cudaFuncGetName(const char **name, const void *func) {
    KERNEL_CALL(func, cuKernelGetName(name, kernel));
}

cudaError_t CUDARTAPI cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
                                           size_t *paramSize) {
    KERNEL_CALL(func, cuKernelGetParamInfo(kernel, paramIndex, paramOffset, paramSize));
}

cudaError_t CUDARTAPI cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr,
                                                      int value, int device) {
    CUdevice handle = 0;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuDeviceGet(&handle, device));
    if (e == cudaSuccess)
        e = gr_rt_translate(
            gr_rt_legacy.cuKernelSetAttribute((CUfunction_attribute)attr, value, (CUkernel)kernel, handle));
    return gr_rt_leave(e);
}

// ---- occupancy; cuda.h documents that these take a CUkernel cast to CUfunction

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func,
                                                                             int blockSize,
                                                                             size_t dynamicSMemSize,
                                                                             unsigned int flags) {
    KERNEL_CALL(func, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                          numBlocks, (CUfunction)kernel, blockSize, dynamicSMemSize, flags));
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                                    int blockSize, size_t dynamicSMemSize) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize,
                                                                  cudaOccupancyDefault);
}

cudaError_t CUDARTAPI cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
                                                                int numBlocks, int blockSize) {
    KERNEL_CALL(func, cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, (CUfunction)kernel, numBlocks,
                                                              blockSize));
}

// `ask` is a slot of the driver's table, which is filled only after entering.
static cudaError_t ask_about_clusters(CUresult (**ask)(int *, CUfunction, const CUlaunchConfig *), int *out,
                                      const void *func, const cudaLaunchConfig_t *config) {
    GR_RT_REQUIRE(config != NULL, cudaErrorInvalidValue);
    CUkernel kernel = NULL;
    CUdevice device = 0;
    CUlaunchConfig c = gr_rt_launch_config(config);
    cudaError_t e = enter_kernel(func, &kernel, &device);
    if (e == cudaSuccess)
        e = as_function_error(gr_rt_translate((*ask)(out, (CUfunction)kernel, &c)));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                           const cudaLaunchConfig_t *launchConfig) {
    return ask_about_clusters(&gr_rt_legacy.cuOccupancyMaxPotentialClusterSize, clusterSize, func,
                              launchConfig);
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                                     const cudaLaunchConfig_t *launchConfig) {
    return ask_about_clusters(&gr_rt_legacy.cuOccupancyMaxActiveClusters, numClusters, func, launchConfig);
}
