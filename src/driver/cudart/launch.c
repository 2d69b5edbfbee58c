// SPDX-License-Identifier: Apache-2.0
// launch — kernels and host functions into a stream. Compiled twice (see runtime.h).
//
// A kernel is passed to cuLaunchKernel as the CUkernel cast to CUfunction, which cuda.h documents: the driver
// then uses the current context's instance. Arguments are passed as they are; their number and sizes are the
// driver's business, which knows the kernel's parameter list.
#include "driver/cudart/registration.h"

#include <limits.h>

#ifdef GR_RT_PER_THREAD
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#endif

static bool is_configuration_valid(dim3 block) {
    CUdevice device = 0;
    int most = 0;
    if (GR_RT_DRIVER.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        GR_RT_DRIVER.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device) !=
            CUDA_SUCCESS)
        return true;
    uint64_t xy = (uint64_t)block.x * block.y; // below 2^64; times z it could be more
    return xy <= (uint64_t)most && xy * block.z <= (uint64_t)most;
}

// The driver says "invalid value" of every argument. The runtime has an error of its own for blocks of too many threads
// (not for a dimension that is too large by itself: asked of an H200), and for what is not a kernel.
static cudaError_t launch_error(CUresult r, dim3 block) {
    if (r == CUDA_ERROR_INVALID_VALUE && !is_configuration_valid(block))
        return cudaErrorInvalidConfiguration;
    if (r == CUDA_ERROR_NOT_FOUND)
        return cudaErrorInvalidDeviceFunction;
    return gr_rt_translate(r);
}

static bool has_zero(dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; }

static cudaError_t check(dim3 grid, dim3 block, size_t shared) {
    if (has_zero(grid) || has_zero(block))
        return cudaErrorInvalidConfiguration;
    return shared > UINT_MAX ? cudaErrorInvalidValue : cudaSuccess;
}

// Finds a kernel by the name that the program gives.
typedef cudaError_t (*Finder)(const void *name, CUkernel *kernel);

static cudaError_t find_handle(const void *handle, CUkernel *kernel) {
    return gr_rt_kernel_of_handle((cudaKernel_t)(uintptr_t)handle, kernel);
}

static cudaError_t launch(Finder find, const void *name, dim3 grid, dim3 block, void **args, size_t shared,
                          cudaStream_t stream, bool cooperative) {
    const DriverApi *d = &GR_RT_DRIVER;
    CUkernel kernel = NULL;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = find(name, &kernel);
    if (e == cudaSuccess)
        e = check(grid, block, shared);
    if (e != cudaSuccess)
        return gr_rt_leave(e);
    CUfunction f = (CUfunction)kernel;
    CUresult r = cooperative ? d->cuLaunchCooperativeKernel(f, grid.x, grid.y, grid.z, block.x, block.y,
                                                            block.z, (unsigned)shared, stream, args)
                             : d->cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                 (unsigned)shared, stream, args, NULL);
    return gr_rt_leave(launch_error(r, block));
}

cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                                         size_t sharedMem, cudaStream_t stream) {
    return launch(find_handle, kernel, gridDim, blockDim, args, sharedMem, stream, false);
}

cudaError_t CUDARTAPI cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                       size_t sharedMem, cudaStream_t stream) {
    return launch(gr_rt_kernel, func, gridDim, blockDim, args, sharedMem, stream, false);
}

cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                                  size_t sharedMem, cudaStream_t stream) {
    return launch(gr_rt_kernel, func, gridDim, blockDim, args, sharedMem, stream, true);
}

cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args) {
    GR_RT_REQUIRE(config != NULL, cudaErrorInvalidValue);
    CUkernel k = NULL;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_kernel(func, &k);
    if (e == cudaSuccess)
        e = config->dynamicSmemBytes > UINT_MAX ? cudaErrorInvalidValue : cudaSuccess;
    if (e == cudaSuccess) { // here the shape of grid and block has no error of its own
        CUlaunchConfig c = gr_rt_launch_config(config);
        CUresult r = GR_RT_DRIVER.cuLaunchKernelEx(&c, (CUfunction)k, args, NULL);
        e = r == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidValue : launch_error(r, config->blockDim);
    }
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData) {
    GR_RT_REQUIRE(fn != NULL, cudaErrorInvalidValue);
    GR_RT_CALL(cuLaunchHostFunc(stream, fn, userData));
}
