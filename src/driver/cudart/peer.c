// SPDX-License-Identifier: Apache-2.0
// peer — copies between devices. The headers know no per-thread variant of these two.
#include "driver/cudart/runtime.h"

static CUdeviceptr dptr(const void *p) { return (CUdeviceptr)(uintptr_t)p; }

static cudaError_t contexts(int dst_device, int src_device, CUcontext *dst, CUcontext *src) {
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_primary(dst_device, dst);
    if (e == cudaSuccess)
        e = gr_rt_primary(src_device, src);
    return e;
}

cudaError_t CUDARTAPI cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count) {
    CUcontext to = NULL, from = NULL;
    cudaError_t e = contexts(dstDevice, srcDevice, &to, &from);
    if (e == cudaSuccess && count != 0)
        e = gr_rt_translate(gr_rt_legacy.cuMemcpyPeer(dptr(dst), to, dptr(src), from, count));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                          size_t count, cudaStream_t stream) {
    CUcontext to = NULL, from = NULL;
    cudaError_t e = contexts(dstDevice, srcDevice, &to, &from);
    if (e == cudaSuccess && count != 0)
        e = gr_rt_translate(gr_rt_legacy.cuMemcpyPeerAsync(dptr(dst), to, dptr(src), from, count, stream));
    return gr_rt_leave(e);
}
