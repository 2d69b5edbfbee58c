// SPDX-License-Identifier: Apache-2.0
// stream_work — what acts on a stream, which may be the default one. Compiled twice (see runtime.h).
#include "driver/cudart/runtime.h"

#include <stdlib.h>

_Static_assert((int)cudaEventWaitExternal == (int)CU_EVENT_WAIT_EXTERNAL, "wait flags");
_Static_assert((int)cudaEventRecordExternal == (int)CU_EVENT_RECORD_EXTERNAL, "record flags");
_Static_assert((int)cudaStreamCaptureStatusInvalidated == (int)CU_STREAM_CAPTURE_STATUS_INVALIDATED,
               "capture");
_Static_assert(sizeof(cudaStreamAttrValue) == sizeof(CUstreamAttrValue), "stream attributes");

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream) { GR_RT_CALL(cuStreamSynchronize(stream)); }

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream) { GR_RT_CALL(cuStreamQuery(stream)); }

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    GR_RT_REQUIRE(event != NULL, cudaErrorInvalidResourceHandle);
    GR_RT_CALL(cuStreamWaitEvent(stream, event, flags));
}

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    GR_RT_REQUIRE(event != NULL, cudaErrorInvalidResourceHandle);
    GR_RT_CALL(cuEventRecord(event, stream));
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    GR_RT_REQUIRE(event != NULL, cudaErrorInvalidResourceHandle);
    GR_RT_CALL(cuEventRecordWithFlags(event, stream, flags));
}

// ---- callbacks

// A stream callback of the runtime takes the runtime's error, so the driver calls this one in between.
typedef struct Callback {
    cudaStreamCallback_t fn;
    void *data;
} Callback;

static void CUDA_CB run_callback(CUstream stream, CUresult status, void *data) {
    Callback c = *(Callback *)data;
    free(data);
    c.fn(stream, gr_rt_translate(status), c.data);
}

cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                            void *userData, unsigned int flags) {
    GR_RT_REQUIRE(callback != NULL && flags == 0, cudaErrorInvalidValue);
    cudaError_t e = gr_rt_enter();
    if (e != cudaSuccess)
        return gr_rt_leave(e);
    Callback *c = malloc(sizeof *c);
    if (c == NULL)
        return gr_rt_leave(cudaErrorMemoryAllocation);
    *c = (Callback){callback, userData};
    e = gr_rt_translate(GR_RT_DRIVER.cuStreamAddCallback(stream, run_callback, c, 0));
    if (e != cudaSuccess)
        free(c);
    return gr_rt_leave(e);
}

// ---- managed memory and attributes

cudaError_t CUDARTAPI cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                               unsigned int flags) {
    GR_RT_CALL(cuStreamAttachMemAsync(stream, (CUdeviceptr)(uintptr_t)devPtr, length, flags));
}

cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t hStream, int *priority) {
    GR_RT_CALL(cuStreamGetPriority(hStream, priority));
}

cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags) {
    GR_RT_CALL(cuStreamGetFlags(hStream, flags));
}

cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId) {
    GR_RT_CALL(cuStreamGetId(hStream, streamId));
}

cudaError_t CUDARTAPI cudaStreamGetDevice(cudaStream_t hStream, int *device) {
    GR_RT_CALL(cuStreamGetDevice(hStream, device));
}

cudaError_t CUDARTAPI cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
    GR_RT_CALL(cuStreamCopyAttributes(dst, src));
}

cudaError_t CUDARTAPI cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                             cudaLaunchAttributeValue *value_out) {
    GR_RT_CALL(cuStreamGetAttribute(hStream, (CUstreamAttrID)attr, (CUstreamAttrValue *)value_out));
}

cudaError_t CUDARTAPI cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                             const cudaLaunchAttributeValue *value) {
    GR_RT_CALL(cuStreamSetAttribute(hStream, (CUstreamAttrID)attr, (const CUstreamAttrValue *)value));
}

cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream,
                                            enum cudaStreamCaptureStatus *pCaptureStatus) {
    GR_RT_CALL(cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)pCaptureStatus));
}

// ---- capture and graphs; graph.c has the rest

_Static_assert((int)cudaStreamCaptureModeRelaxed == (int)CU_STREAM_CAPTURE_MODE_RELAXED, "capture");
_Static_assert((int)cudaStreamSetCaptureDependencies == (int)CU_STREAM_SET_CAPTURE_DEPENDENCIES, "capture");
_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "edges");
_Static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS), "graphs");
_Static_assert((int)cudaGraphInstantiateError == (int)CUDA_GRAPH_INSTANTIATE_ERROR, "graphs");

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    GR_RT_CALL(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                    const cudaGraphNode_t *dependencies,
                                                    const cudaGraphEdgeData *dependencyData,
                                                    size_t numDependencies, enum cudaStreamCaptureMode mode) {
    GR_RT_CALL(cuStreamBeginCaptureToGraph(stream, graph, dependencies,
                                           (const CUgraphEdgeData *)dependencyData, numDependencies,
                                           (CUstreamCaptureMode)mode));
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph) {
    GR_RT_CALL(cuStreamEndCapture(stream, pGraph));
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t stream,
                                               enum cudaStreamCaptureStatus *captureStatus_out,
                                               unsigned long long *id_out, cudaGraph_t *graph_out,
                                               const cudaGraphNode_t **dependencies_out,
                                               const cudaGraphEdgeData **edgeData_out,
                                               size_t *numDependencies_out) {
    GR_RT_CALL(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)captureStatus_out,
                                      (cuuint64_t *)id_out, graph_out, dependencies_out,
                                      (const CUgraphEdgeData **)edgeData_out, numDependencies_out));
}

cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                          const cudaGraphEdgeData *dependencyData,
                                                          size_t numDependencies, unsigned int flags) {
    GR_RT_CALL(cuStreamUpdateCaptureDependencies(
        stream, dependencies, (const CUgraphEdgeData *)dependencyData, numDependencies, flags));
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                     cudaGraphInstantiateParams *instantiateParams) {
    GR_RT_CALL(
        cuGraphInstantiateWithParams(pGraphExec, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)instantiateParams));
}

cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
    GR_RT_CALL(cuGraphUpload(graphExec, stream));
}

cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
    GR_RT_CALL(cuGraphLaunch(graphExec, stream));
}

// ---- the driver's entry points, for programs that use both APIs

static cudaError_t entry_point(const char *symbol, void **funcPtr, unsigned version, unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *driverStatus) {
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (symbol == NULL || funcPtr == NULL || version > INT32_MAX)
        return cudaErrorInvalidValue;
    cudaError_t e = gr_rt_load();
    if (e != cudaSuccess)
        return e;
#ifdef GR_RT_PER_THREAD
    if (flags == cudaEnableDefault)
        flags = cudaEnablePerThreadDefaultStream;
#else
    if (flags == cudaEnableDefault)
        flags = cudaEnableLegacyStream;
#endif
    *funcPtr = NULL;
    e = gr_rt_translate(gr_rt_get_proc(symbol, funcPtr, (int)version, flags, &status));
    if (driverStatus != NULL)
        *driverStatus = (enum cudaDriverEntryPointQueryResult)status;
    // An entry point that is not there is an answer, not an error, as the header says.
    if (e == cudaErrorSymbolNotFound) {
        *funcPtr = NULL;
        if (driverStatus != NULL && *driverStatus == cudaDriverEntryPointSuccess)
            *driverStatus = cudaDriverEntryPointSymbolNotFound;
        e = cudaSuccess;
    }
    return e;
}

cudaError_t CUDARTAPI cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                              enum cudaDriverEntryPointQueryResult *driverStatus) {
    return gr_rt_leave(entry_point(symbol, funcPtr, GR_RT_VERSION, flags, driverStatus));
}

cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr,
                                                       unsigned int cudaVersion, unsigned long long flags,
                                                       enum cudaDriverEntryPointQueryResult *driverStatus) {
    return gr_rt_leave(entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus));
}
