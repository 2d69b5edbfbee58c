// SPDX-License-Identifier: Apache-2.0
// box — copies of rectangles and boxes in the driver's terms. For the calls that copy, and for graph nodes.
#include "driver/cudart/runtime.h"

// Memory types of the two ends. UNIFIED lets the driver find out from the pointer, which it gets as a device pointer.
bool gr_rt_ends(enum cudaMemcpyKind kind, CUmemorytype *src, CUmemorytype *dst) {
    switch (kind) {
    case cudaMemcpyHostToHost: *src = CU_MEMORYTYPE_HOST, *dst = CU_MEMORYTYPE_HOST; return true;
    case cudaMemcpyHostToDevice: *src = CU_MEMORYTYPE_HOST, *dst = CU_MEMORYTYPE_DEVICE; return true;
    case cudaMemcpyDeviceToHost: *src = CU_MEMORYTYPE_DEVICE, *dst = CU_MEMORYTYPE_HOST; return true;
    case cudaMemcpyDeviceToDevice: *src = CU_MEMORYTYPE_DEVICE, *dst = CU_MEMORYTYPE_DEVICE; return true;
    case cudaMemcpyDefault: *src = CU_MEMORYTYPE_UNIFIED, *dst = CU_MEMORYTYPE_UNIFIED; return true;
    }
    return false;
}

static CUdeviceptr dptr(const void *p) { return (CUdeviceptr)(uintptr_t)p; }

cudaError_t gr_rt_box(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out) {
    if (p->srcArray != NULL || p->dstArray != NULL) {
        gr_rt_report_absent("cudaMemcpy3D with cudaArray");
        return cudaErrorNotSupported;
    }
    *out = (CUDA_MEMCPY3D){.srcXInBytes = p->srcPos.x,
                           .srcY = p->srcPos.y,
                           .srcZ = p->srcPos.z,
                           .srcHost = p->srcPtr.ptr,
                           .srcDevice = dptr(p->srcPtr.ptr),
                           .srcPitch = p->srcPtr.pitch,
                           .srcHeight = p->srcPtr.ysize,
                           .dstXInBytes = p->dstPos.x,
                           .dstY = p->dstPos.y,
                           .dstZ = p->dstPos.z,
                           .dstHost = p->dstPtr.ptr,
                           .dstDevice = dptr(p->dstPtr.ptr),
                           .dstPitch = p->dstPtr.pitch,
                           .dstHeight = p->dstPtr.ysize,
                           .WidthInBytes = p->extent.width, // bytes, since no array takes part
                           .Height = p->extent.height,
                           .Depth = p->extent.depth};
    if (!gr_rt_ends(p->kind, &out->srcMemoryType, &out->dstMemoryType))
        return cudaErrorInvalidMemcpyDirection;
    if (out->WidthInBytes > out->srcPitch || out->WidthInBytes > out->dstPitch)
        return cudaErrorInvalidPitchValue;
    return cudaSuccess;
}
