// SPDX-License-Identifier: Apache-2.0
// cuda12 — the ABIs of CUDA 12 that CUDA 13 gave up, for libcudart.so.12 (cuda12.h). Compiled twice (see runtime.h).
//
// Each of them has a name of its own here, as the headers declare the exported name with CUDA 13's type.
#include "driver/cudart/runtime.h"

// Declares and begins the definition of the function that is exported as `name`.
#define EXPORT(name, type, fn, ...)                                                                          \
    type fn(__VA_ARGS__) __asm__(name);                                                                      \
    type fn(__VA_ARGS__)

#ifdef GR_RT_PER_THREAD
#define PTSZ(name) name "_ptsz"
#else
#define PTSZ(name) name
#endif

static struct cudaMemLocation location_of(int device) {
    return (struct cudaMemLocation){.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost
                                                                      : cudaMemLocationTypeDevice,
                                    .id = device};
}

EXPORT(PTSZ("cudaMemPrefetchAsync"), cudaError_t, mem_prefetch_async, const void *p, size_t count, int device,
       cudaStream_t stream) {
    return cudaMemPrefetchAsync(p, count, location_of(device), 0, stream);
}

// The ABI of CUDA 10 under the plain name, which CUDA 12's headers map to the next.
EXPORT(PTSZ("cudaStreamGetCaptureInfo"), cudaError_t, stream_get_capture_info, cudaStream_t stream,
       enum cudaStreamCaptureStatus *status, unsigned long long *id) {
    return cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}

EXPORT(PTSZ("cudaStreamGetCaptureInfo_v2"), cudaError_t, stream_get_capture_info_v2, cudaStream_t stream,
       enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
       const cudaGraphNode_t **dependencies, size_t *n) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, NULL, n);
}

EXPORT(PTSZ("cudaStreamUpdateCaptureDependencies"), cudaError_t, stream_update_capture_dependencies,
       cudaStream_t stream, cudaGraphNode_t *dependencies, size_t n, unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(stream, dependencies, NULL, n, flags);
}

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes), "copy attributes");

EXPORT(PTSZ("cudaMemcpyBatchAsync"), cudaError_t, memcpy_batch_async, void **dsts, void **srcs, size_t *sizes,
       size_t count, struct cudaMemcpyAttributes *attributes, size_t *first, size_t n, size_t *failed,
       cudaStream_t stream) {
    if (failed != NULL)
        *failed = SIZE_MAX; // no single one
    GR_RT_CALL(cuMemcpyBatchAsync((CUdeviceptr *)(void *)dsts, (CUdeviceptr *)(void *)srcs, sizes, count,
                                  (CUmemcpyAttributes *)attributes, first, n, stream));
}

#ifndef GR_RT_PER_THREAD

// ---- graphs without edge data

EXPORT("cudaGraphAddDependencies", cudaError_t, graph_add_dependencies, cudaGraph_t graph,
       const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) {
    return cudaGraphAddDependencies(graph, from, to, NULL, n);
}

EXPORT("cudaGraphRemoveDependencies", cudaError_t, graph_remove_dependencies, cudaGraph_t graph,
       const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) {
    return cudaGraphRemoveDependencies(graph, from, to, NULL, n);
}

EXPORT("cudaGraphGetEdges", cudaError_t, graph_get_edges, cudaGraph_t graph, cudaGraphNode_t *from,
       cudaGraphNode_t *to, size_t *n) {
    return cudaGraphGetEdges(graph, from, to, NULL, n);
}

EXPORT("cudaGraphNodeGetDependencies", cudaError_t, graph_node_get_dependencies, cudaGraphNode_t node,
       cudaGraphNode_t *nodes, size_t *n) {
    return cudaGraphNodeGetDependencies(node, nodes, NULL, n);
}

EXPORT("cudaGraphNodeGetDependentNodes", cudaError_t, graph_node_get_dependent_nodes, cudaGraphNode_t node,
       cudaGraphNode_t *nodes, size_t *n) {
    return cudaGraphNodeGetDependentNodes(node, nodes, NULL, n);
}

EXPORT("cudaGraphAddNode", cudaError_t, graph_add_node, cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *dependencies, size_t n, struct cudaGraphNodeParams *params) {
    return cudaGraphAddNode(node, graph, dependencies, NULL, n, params);
}

// ---- others

// Under this name CUDA 12 keeps the structure of CUDA 11, which its headers no longer show.
EXPORT("cudaGetDeviceProperties", cudaError_t, get_device_properties_v1, void *prop, int device) {
    (void)prop, (void)device;
    gr_rt_report_absent("cudaGetDeviceProperties of CUDA 11");
    return gr_rt_leave(cudaErrorNotSupported);
}

EXPORT("cudaMemAdvise", cudaError_t, mem_advise, const void *p, size_t count, enum cudaMemoryAdvise advice,
       int device) {
    return cudaMemAdvise(p, count, advice, location_of(device));
}

EXPORT("cudaEventElapsedTime_v2", cudaError_t, event_elapsed_time, float *ms, cudaEvent_t start,
       cudaEvent_t end) {
    return cudaEventElapsedTime(ms, start, end);
}

// ---- deprecated since CUDA 4: a thread is not what has a context -----------------------------------------------

EXPORT("cudaThreadExit", cudaError_t, thread_exit, void) { return cudaDeviceReset(); }

EXPORT("cudaThreadSynchronize", cudaError_t, thread_synchronize, void) { return cudaDeviceSynchronize(); }

EXPORT("cudaThreadSetLimit", cudaError_t, thread_set_limit, enum cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}

EXPORT("cudaThreadGetLimit", cudaError_t, thread_get_limit, size_t *value, enum cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}

EXPORT("cudaThreadGetCacheConfig", cudaError_t, thread_get_cache_config, enum cudaFuncCache *config) {
    return cudaDeviceGetCacheConfig(config);
}

EXPORT("cudaThreadSetCacheConfig", cudaError_t, thread_set_cache_config, enum cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}

// All devices since compute capability 1.3 have doubles: there is nothing to convert.
EXPORT("cudaSetDoubleForDevice", cudaError_t, set_double_for_device, double *d) {
    return gr_rt_leave(d != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT("cudaSetDoubleForHost", cudaError_t, set_double_for_host, double *d) {
    return gr_rt_leave(d != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

#endif
