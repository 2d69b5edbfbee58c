// SPDX-License-Identifier: Apache-2.0
// stream — making and ending streams and events. Work on them is in stream_work.c.
//
// Stream and event handles are the driver's own, so programs may pass them between the two APIs.
#include "driver/cudart/runtime.h"

_Static_assert((int)cudaStreamNonBlocking == (int)CU_STREAM_NON_BLOCKING, "stream flags");
_Static_assert((int)cudaEventBlockingSync == (int)CU_EVENT_BLOCKING_SYNC, "event flags");
_Static_assert((int)cudaEventDisableTiming == (int)CU_EVENT_DISABLE_TIMING, "event flags");
_Static_assert((int)cudaEventInterprocess == (int)CU_EVENT_INTERPROCESS, "event flags");

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags) {
    GR_RT_REQUIRE(pStream != NULL && (flags & ~(unsigned)cudaStreamNonBlocking) == 0, cudaErrorInvalidValue);
    GR_RT_CALL(cuStreamCreate(pStream, flags));
}

cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t *pStream) {
    return cudaStreamCreateWithFlags(pStream, cudaStreamDefault);
}

cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority) {
    GR_RT_REQUIRE(pStream != NULL && (flags & ~(unsigned)cudaStreamNonBlocking) == 0, cudaErrorInvalidValue);
    GR_RT_CALL(cuStreamCreateWithPriority(pStream, flags, priority));
}

cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream) {
    // The default streams belong to the context.
    GR_RT_REQUIRE(stream != NULL && stream != cudaStreamLegacy && stream != cudaStreamPerThread,
                  cudaErrorInvalidResourceHandle);
    GR_RT_CALL(cuStreamDestroy(stream));
}

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    const unsigned valid = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    GR_RT_REQUIRE(event != NULL && (flags & ~valid) == 0, cudaErrorInvalidValue);
    GR_RT_CALL(cuEventCreate(event, flags));
}

cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
    GR_RT_REQUIRE(event != NULL, cudaErrorInvalidResourceHandle);
    GR_RT_CALL(cuEventDestroy(event));
}

cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) {
    GR_RT_REQUIRE(event != NULL, cudaErrorInvalidResourceHandle);
    GR_RT_CALL(cuEventQuery(event));
}

cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
    GR_RT_REQUIRE(event != NULL, cudaErrorInvalidResourceHandle);
    GR_RT_CALL(cuEventSynchronize(event));
}

cudaError_t CUDARTAPI cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    GR_RT_REQUIRE(ms != NULL, cudaErrorInvalidValue);
    GR_RT_REQUIRE(start != NULL && end != NULL, cudaErrorInvalidResourceHandle);
    GR_RT_CALL(cuEventElapsedTime(ms, start, end));
}
