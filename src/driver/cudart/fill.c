// SPDX-License-Identifier: Apache-2.0
// fill — memset, and allocation and prefetch in stream order. Compiled twice (see runtime.h).
#include "driver/cudart/runtime.h"

static CUdeviceptr dptr(const void *p) { return (CUdeviceptr)(uintptr_t)p; }

// The driver has no 3D form: a box is its slices, and a box without gaps is one rectangle.
static cudaError_t fill_box(struct cudaPitchedPtr p, int value, struct cudaExtent extent, bool async,
                            cudaStream_t stream) {
    const unsigned char byte = (unsigned char)value;
    size_t rows = 0, slice = 0;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        return cudaSuccess;
    if (extent.width > p.pitch && (extent.height > 1 || extent.depth > 1))
        return cudaErrorInvalidValue; // not cudaErrorInvalidPitchValue, which copies have: asked of an H200
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows) ||
        __builtin_mul_overflow(p.pitch, p.ysize, &slice))
        return cudaErrorInvalidValue;
    bool solid = extent.depth == 1 || extent.height == p.ysize;
    size_t count = solid ? 1 : extent.depth, height = solid ? rows : extent.height;
    for (size_t z = 0; z < count; z++) {
        CUdeviceptr at = dptr(p.ptr) + z * slice;
        CUresult r = async ? GR_RT_DRIVER.cuMemsetD2D8Async(at, p.pitch, byte, extent.width, height, stream)
                           : GR_RT_DRIVER.cuMemsetD2D8(at, p.pitch, byte, extent.width, height);
        if (r != CUDA_SUCCESS)
            return gr_rt_translate(r);
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemset(void *devPtr, int value, size_t count) {
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess && count != 0)
        e = gr_rt_translate(GR_RT_DRIVER.cuMemsetD8(dptr(devPtr), (unsigned char)value, count));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream) {
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess && count != 0)
        e = gr_rt_translate(GR_RT_DRIVER.cuMemsetD8Async(dptr(devPtr), (unsigned char)value, count, stream));
    return gr_rt_leave(e);
}

static cudaError_t fill(struct cudaPitchedPtr p, int value, struct cudaExtent extent, bool async,
                        cudaStream_t stream) {
    cudaError_t e = gr_rt_enter();
    return gr_rt_leave(e != cudaSuccess ? e : fill_box(p, value, extent, async, stream));
}

static struct cudaPitchedPtr rectangle(void *p, size_t pitch, size_t width, size_t height) {
    return (struct cudaPitchedPtr){.ptr = p, .pitch = pitch, .xsize = width, .ysize = height};
}

cudaError_t CUDARTAPI cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height) {
    return fill(rectangle(devPtr, pitch, width, height), value, (struct cudaExtent){width, height, 1}, false,
                NULL);
}

cudaError_t CUDARTAPI cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                                        cudaStream_t stream) {
    return fill(rectangle(devPtr, pitch, width, height), value, (struct cudaExtent){width, height, 1}, true,
                stream);
}

cudaError_t CUDARTAPI cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent) {
    return fill(pitchedDevPtr, value, extent, false, NULL);
}

cudaError_t CUDARTAPI cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                                        struct cudaExtent extent, cudaStream_t stream) {
    return fill(pitchedDevPtr, value, extent, true, stream);
}

// ---- allocation in stream order

static cudaError_t alloc_async(void **ptr, size_t size, const cudaMemPool_t *pool, cudaStream_t stream) {
    GR_RT_REQUIRE(ptr != NULL, cudaErrorInvalidValue);
    CUdeviceptr p = 0;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess && size != 0)
        e = gr_rt_translate(pool == NULL ? GR_RT_DRIVER.cuMemAllocAsync(&p, size, stream)
                                         : GR_RT_DRIVER.cuMemAllocFromPoolAsync(&p, size, *pool, stream));
    if (e == cudaSuccess)
        *ptr = (void *)(uintptr_t)p;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream) {
    return alloc_async(devPtr, size, NULL, hStream);
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                              cudaStream_t stream) {
    return alloc_async(ptr, size, &memPool, stream);
}

cudaError_t CUDARTAPI cudaFreeAsync(void *devPtr, cudaStream_t hStream) {
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess && devPtr != NULL)
        e = gr_rt_translate(GR_RT_DRIVER.cuMemFreeAsync(dptr(devPtr), hStream));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location,
                                           unsigned int flags, cudaStream_t stream) {
    CUmemLocation where = {.type = (CUmemLocationType)location.type, .id = location.id};
    GR_RT_CALL(cuMemPrefetchAsync(dptr(devPtr), count, where, flags, stream));
}
