// SPDX-License-Identifier: Apache-2.0
// perthread — the _ptsz entry points: handle 0 means the per-thread default stream. (_ptds ones stand next to what they
// vary, in copy.c and fill.c.)
#include "driver/cuda/driver.h"
#include "driver/cuda/stream.h"

#define UNPACK(...) __VA_ARGS__
// The stream is the first, the last or the only parameter.
#define STREAM_FIRST(name, params, args)                                                                     \
    CUresult name##_ptsz(CUstream s, UNPACK params) { return name(gr_per_thread(s), UNPACK args); }
#define STREAM_LAST(name, params, args)                                                                      \
    CUresult name##_ptsz(UNPACK params, CUstream s) { return name(UNPACK args, gr_per_thread(s)); }
#define STREAM_ONLY(name)                                                                                    \
    CUresult name##_ptsz(CUstream s) { return name(gr_per_thread(s)); }

STREAM_ONLY(cuStreamQuery)
STREAM_ONLY(cuStreamSynchronize)
STREAM_ONLY(cuStreamBeginCapture)

STREAM_FIRST(cuStreamGetPriority, (int *a), (a))
STREAM_FIRST(cuStreamGetFlags, (unsigned int *a), (a))
STREAM_FIRST(cuStreamGetId, (unsigned long long *a), (a))
STREAM_FIRST(cuStreamGetCtx, (CUcontext * a), (a))
STREAM_FIRST(cuStreamGetCtx_v2, (CUcontext * a, CUgreenCtx *b), (a, b))
STREAM_FIRST(cuStreamGetDevice, (CUdevice * a), (a))
STREAM_FIRST(cuStreamGetAttribute, (CUstreamAttrID a, CUstreamAttrValue *b), (a, b))
STREAM_FIRST(cuStreamSetAttribute, (CUstreamAttrID a, const CUstreamAttrValue *b), (a, b))
STREAM_FIRST(cuStreamWaitEvent, (CUevent a, unsigned int b), (a, b))
STREAM_FIRST(cuStreamIsCapturing, (CUstreamCaptureStatus * a), (a))
STREAM_FIRST(cuStreamGetCaptureInfo, (CUstreamCaptureStatus * a, cuuint64_t *b), (a, b))
STREAM_FIRST(cuStreamGetCaptureInfo_v2,
             (CUstreamCaptureStatus * a, cuuint64_t *b, CUgraph *c, const CUgraphNode **d, size_t *e),
             (a, b, c, d, e))
STREAM_FIRST(cuStreamGetCaptureInfo_v3,
             (CUstreamCaptureStatus * a, cuuint64_t *b, CUgraph *c, const CUgraphNode **d,
              const CUgraphEdgeData **e, size_t *f),
             (a, b, c, d, e, f))
STREAM_FIRST(cuStreamBeginCapture_v2, (CUstreamCaptureMode a), (a))
STREAM_FIRST(cuStreamBeginCaptureToGraph,
             (CUgraph a, const CUgraphNode *b, const CUgraphEdgeData *c, size_t d, CUstreamCaptureMode e),
             (a, b, c, d, e))
STREAM_FIRST(cuStreamEndCapture, (CUgraph * a), (a))
STREAM_FIRST(cuStreamUpdateCaptureDependencies, (CUgraphNode * a, size_t b, unsigned int c), (a, b, c))
STREAM_FIRST(cuStreamUpdateCaptureDependencies_v2,
             (CUgraphNode * a, const CUgraphEdgeData *b, size_t c, unsigned int d), (a, b, c, d))
STREAM_FIRST(cuStreamAttachMemAsync, (CUdeviceptr a, size_t b, unsigned int c), (a, b, c))
STREAM_FIRST(cuStreamAddCallback, (CUstreamCallback a, void *b, unsigned int c), (a, b, c))
STREAM_FIRST(cuLaunchHostFunc, (CUhostFn a, void *b), (a, b))
STREAM_FIRST(cuStreamWaitValue32_v2, (CUdeviceptr a, cuuint32_t b, unsigned int c), (a, b, c))
STREAM_FIRST(cuStreamWaitValue64_v2, (CUdeviceptr a, cuuint64_t b, unsigned int c), (a, b, c))
STREAM_FIRST(cuStreamWriteValue32_v2, (CUdeviceptr a, cuuint32_t b, unsigned int c), (a, b, c))
STREAM_FIRST(cuStreamWriteValue64_v2, (CUdeviceptr a, cuuint64_t b, unsigned int c), (a, b, c))

STREAM_FIRST(cuStreamBatchMemOp_v2, (unsigned int a, CUstreamBatchMemOpParams *b, unsigned int c), (a, b, c))

STREAM_LAST(cuGraphLaunch, (CUgraphExec a), (a))
STREAM_LAST(cuGraphUpload, (CUgraphExec a), (a))
STREAM_LAST(cuEventRecord, (CUevent a), (a))
STREAM_LAST(cuMemcpyAsync, (CUdeviceptr a, CUdeviceptr b, size_t c), (a, b, c))
STREAM_LAST(cuMemcpyPeerAsync, (CUdeviceptr a, CUcontext b, CUdeviceptr c, CUcontext d, size_t e),
            (a, b, c, d, e))
STREAM_LAST(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *a), (a))
STREAM_LAST(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *a), (a))
STREAM_LAST(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *a), (a))
STREAM_LAST(cuMemcpyBatchAsync,
            (CUdeviceptr * a, CUdeviceptr *b, size_t *c, size_t d, CUmemcpyAttributes *e, size_t *f, size_t g,
             size_t *h),
            (a, b, c, d, e, f, g, h))
STREAM_LAST(cuMemcpyBatchAsync_v2,
            (CUdeviceptr * a, CUdeviceptr *b, size_t *c, size_t d, CUmemcpyAttributes *e, size_t *f,
             size_t g),
            (a, b, c, d, e, f, g))
STREAM_LAST(cuMemAllocAsync, (CUdeviceptr * a, size_t b), (a, b))
STREAM_LAST(cuMemAllocFromPoolAsync, (CUdeviceptr * a, size_t b, CUmemoryPool c), (a, b, c))
STREAM_LAST(cuMemFreeAsync, (CUdeviceptr a), (a))
STREAM_LAST(cuMemPrefetchAsync, (CUdeviceptr a, size_t b, CUdevice c), (a, b, c))
STREAM_LAST(cuMemPrefetchAsync_v2, (CUdeviceptr a, size_t b, CUmemLocation c, unsigned int d), (a, b, c, d))

CUresult cuEventRecordWithFlags_ptsz(CUevent e, CUstream s, unsigned int flags) {
    return cuEventRecordWithFlags(e, gr_per_thread(s), flags);
}

CUresult cuStreamCopyAttributes_ptsz(CUstream dst, CUstream src) {
    return cuStreamCopyAttributes(gr_per_thread(dst), gr_per_thread(src));
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                             unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params,
                             void **extra) {
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, gr_per_thread(s), params, extra);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
                                        unsigned int bx, unsigned int by, unsigned int bz,
                                        unsigned int shared, CUstream s, void **params) {
    return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, gr_per_thread(s), params);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params, void **extra) {
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    CUlaunchConfig c = *config;
    c.hStream = gr_per_thread(c.hStream);
    return cuLaunchKernelEx(&c, f, params, extra);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *out, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    return cuGraphInstantiateWithParams(out, graph, params); // the stream of the upload, which does nothing
}
