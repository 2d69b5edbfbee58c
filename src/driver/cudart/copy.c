// SPDX-License-Identifier: Apache-2.0
// copy — memcpy in one, two and three dimensions, to and from symbols, and between devices. Compiled twice (runtime.h).
//
// A copy with a direction uses the driver call of that direction, so that the driver can hold the program to it.
// cudaMemcpyDefault and host to host leave the direction to the driver's unified address space. The driver decides
// which copies return before they are done ("API synchronization behavior" in both references).
#include "driver/cudart/runtime.h"

static CUdeviceptr dptr(const void *p) { return (CUdeviceptr)(uintptr_t)p; }

typedef struct Mode {
    bool async;
    cudaStream_t stream;
} Mode;

static const Mode sync_mode = {false, NULL};

static Mode async_mode(cudaStream_t stream) { return (Mode){true, stream}; }

static cudaError_t copy_line(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, Mode m) {
    const DriverApi *d = &GR_RT_DRIVER;
    CUresult r = CUDA_SUCCESS;
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (count == 0)
        return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        r = m.async ? d->cuMemcpyHtoDAsync(dptr(dst), src, count, m.stream)
                    : d->cuMemcpyHtoD(dptr(dst), src, count);
        break;
    case cudaMemcpyDeviceToHost:
        r = m.async ? d->cuMemcpyDtoHAsync(dst, dptr(src), count, m.stream)
                    : d->cuMemcpyDtoH(dst, dptr(src), count);
        break;
    case cudaMemcpyDeviceToDevice:
        r = m.async ? d->cuMemcpyDtoDAsync(dptr(dst), dptr(src), count, m.stream)
                    : d->cuMemcpyDtoD(dptr(dst), dptr(src), count);
        break;
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        r = m.async ? d->cuMemcpyAsync(dptr(dst), dptr(src), count, m.stream)
                    : d->cuMemcpy(dptr(dst), dptr(src), count);
        break;
    }
    return gr_rt_translate(r);
}

static cudaError_t line(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, Mode m) {
    cudaError_t e = gr_rt_enter();
    return gr_rt_leave(e != cudaSuccess ? e : copy_line(dst, src, count, kind, m));
}

cudaError_t CUDARTAPI cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind) {
    return line(dst, src, count, kind, sync_mode);
}

cudaError_t CUDARTAPI cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                                      cudaStream_t stream) {
    return line(dst, src, count, kind, async_mode(stream));
}

// ---- symbols

typedef enum Side { TO_SYMBOL, FROM_SYMBOL } Side;

static cudaError_t symbol_copy(Side side, const void *symbol, void *other, size_t count, size_t offset,
                               enum cudaMemcpyKind kind, Mode m) {
    CUdeviceptr address = 0;
    size_t size = 0, end = 0;
    const enum cudaMemcpyKind host = side == TO_SYMBOL ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    if (kind != host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_symbol(symbol, &address, &size);
    if (e != cudaSuccess)
        return e;
    if (__builtin_add_overflow(offset, count, &end) || end > size)
        return cudaErrorInvalidValue;
    void *at = (void *)(uintptr_t)(address + offset);
    return side == TO_SYMBOL ? copy_line(at, other, count, kind, m) : copy_line(other, at, count, kind, m);
}

cudaError_t CUDARTAPI cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind) {
    return gr_rt_leave(
        symbol_copy(TO_SYMBOL, symbol, (void *)(uintptr_t)src, count, offset, kind, sync_mode));
}

cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                              size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return gr_rt_leave(
        symbol_copy(TO_SYMBOL, symbol, (void *)(uintptr_t)src, count, offset, kind, async_mode(stream)));
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                           enum cudaMemcpyKind kind) {
    return gr_rt_leave(symbol_copy(FROM_SYMBOL, symbol, dst, count, offset, kind, sync_mode));
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                                enum cudaMemcpyKind kind, cudaStream_t stream) {
    return gr_rt_leave(symbol_copy(FROM_SYMBOL, symbol, dst, count, offset, kind, async_mode(stream)));
}

// ---- rectangles and boxes

static cudaError_t rectangle(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                             size_t height, enum cudaMemcpyKind kind, Mode m) {
    CUDA_MEMCPY2D c = {.srcHost = src,
                       .srcDevice = dptr(src),
                       .srcPitch = spitch,
                       .dstHost = dst,
                       .dstDevice = dptr(dst),
                       .dstPitch = dpitch,
                       .WidthInBytes = width,
                       .Height = height};
    if (!gr_rt_ends(kind, &c.srcMemoryType, &c.dstMemoryType))
        return cudaErrorInvalidMemcpyDirection;
    if (width > dpitch || width > spitch)
        return cudaErrorInvalidPitchValue;
    if (width == 0 || height == 0)
        return cudaSuccess;
    cudaError_t e = gr_rt_enter();
    if (e != cudaSuccess)
        return e;
    // "Unaligned": cuMemcpy2D may refuse pitches that cuMemAllocPitch did not choose.
    return gr_rt_translate(m.async ? GR_RT_DRIVER.cuMemcpy2DAsync(&c, m.stream)
                                   : GR_RT_DRIVER.cuMemcpy2DUnaligned(&c));
}

cudaError_t CUDARTAPI cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                                   size_t height, enum cudaMemcpyKind kind) {
    return gr_rt_leave(rectangle(dst, dpitch, src, spitch, width, height, kind, sync_mode));
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                                        size_t width, size_t height, enum cudaMemcpyKind kind,
                                        cudaStream_t stream) {
    return gr_rt_leave(rectangle(dst, dpitch, src, spitch, width, height, kind, async_mode(stream)));
}

static cudaError_t box(const struct cudaMemcpy3DParms *p, Mode m) {
    if (p == NULL)
        return cudaErrorInvalidValue;
    CUDA_MEMCPY3D c = {0};
    cudaError_t e = gr_rt_box(p, &c);
    if (e != cudaSuccess || c.WidthInBytes == 0 || c.Height == 0 || c.Depth == 0)
        return e;
    e = gr_rt_enter();
    if (e != cudaSuccess)
        return e;
    return gr_rt_translate(m.async ? GR_RT_DRIVER.cuMemcpy3DAsync(&c, m.stream)
                                   : GR_RT_DRIVER.cuMemcpy3D(&c));
}

cudaError_t CUDARTAPI cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    return gr_rt_leave(box(p, sync_mode));
}

cudaError_t CUDARTAPI cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    return gr_rt_leave(box(p, async_mode(stream)));
}

// The addresses say which device: the contexts of the driver's own form would add nothing.
static cudaError_t peer_box(const struct cudaMemcpy3DPeerParms *p, Mode m) {
    if (p == NULL)
        return cudaErrorInvalidValue;
    struct cudaMemcpy3DParms b = {.srcArray = p->srcArray,
                                  .srcPos = p->srcPos,
                                  .srcPtr = p->srcPtr,
                                  .dstArray = p->dstArray,
                                  .dstPos = p->dstPos,
                                  .dstPtr = p->dstPtr,
                                  .extent = p->extent,
                                  .kind = cudaMemcpyDeviceToDevice};
    CUcontext primary = NULL;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_primary(p->srcDevice, &primary);
    if (e == cudaSuccess)
        e = gr_rt_primary(p->dstDevice, &primary);
    return e != cudaSuccess ? e : box(&b, m);
}

cudaError_t CUDARTAPI cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p) {
    return gr_rt_leave(peer_box(p, sync_mode));
}

cudaError_t CUDARTAPI cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
    return gr_rt_leave(peer_box(p, async_mode(stream)));
}

#if GR_RT_MAJOR != 12 // cuda12.c has another ABI of it
// ---- batches

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes), "copy attributes");

cudaError_t CUDARTAPI cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes,
                                           size_t count, struct cudaMemcpyAttributes *attrs,
                                           size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream) {
    GR_RT_CALL(cuMemcpyBatchAsync((CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs,
                                  (size_t *)(uintptr_t)sizes, count, (CUmemcpyAttributes *)attrs, attrsIdxs,
                                  numAttrs, stream));
}

#endif
