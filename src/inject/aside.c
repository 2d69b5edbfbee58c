// SPDX-License-Identifier: Apache-2.0
// What the injection itself asks of the driver between the program's calls must not disturb them. The runtime loads
// modules as late as their first launch, perhaps inside the capture of a graph. The driver then refuses allocations,
// synchronous copies and all calls that touch the legacy stream, and these break the capture (CUDA driver API,
// cuStreamBeginCapture and cuThreadExchangeStreamCaptureMode). So the thread is in the relaxed mode meanwhile, and
// copies go through a stream of their own, which waits for no other.
#include "inject/session.h"

typedef CUresult Exchange(CUstreamCaptureMode *);

unsigned gr_aside_begin(void) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    Exchange *exchange = (Exchange *)gr_driver_function("cuThreadExchangeStreamCaptureMode");
    return exchange && exchange(&mode) == CUDA_SUCCESS ? (unsigned)mode : CU_STREAM_CAPTURE_MODE_RELAXED;
}

void gr_aside_end(unsigned before) {
    CUstreamCaptureMode mode = (CUstreamCaptureMode)before;
    Exchange *exchange = (Exchange *)gr_driver_function("cuThreadExchangeStreamCaptureMode");
    if (exchange && before != CU_STREAM_CAPTURE_MODE_RELAXED)
        (void)exchange(&mode);
}

typedef CUresult Work(CUdeviceptr to, const void *from, size_t size, CUstream s);

// Does the work in a stream of its own, and waits for it. CUDA_ERROR_NOT_FOUND: the driver has no such streams.
static CUresult apart(Work *work, CUdeviceptr to, const void *from, size_t size) {
    CUresult (*create)(CUstream *, unsigned) =
        (CUresult(*)(CUstream *, unsigned))gr_driver_function("cuStreamCreate");
    CUresult (*wait)(CUstream) = (CUresult(*)(CUstream))gr_driver_function("cuStreamSynchronize");
    CUresult (*destroy)(CUstream) = (CUresult(*)(CUstream))gr_driver_function("cuStreamDestroy");
    CUstream s = NULL;
    if (!create || !wait || !destroy)
        return CUDA_ERROR_NOT_FOUND;
    CUresult rc = create(&s, CU_STREAM_NON_BLOCKING);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = work(to, from, size, s);
    CUresult waited = rc == CUDA_SUCCESS ? wait(s) : rc;
    (void)destroy(s);
    return waited;
}

static CUresult copy(CUdeviceptr to, const void *from, size_t size, CUstream s) {
    CUresult (*f)(CUdeviceptr, const void *, size_t, CUstream) =
        (CUresult(*)(CUdeviceptr, const void *, size_t, CUstream))gr_driver_function("cuMemcpyHtoDAsync");
    return f ? f(to, from, size, s) : CUDA_ERROR_NOT_FOUND;
}

static CUresult clear(CUdeviceptr to, const void *from, size_t size, CUstream s) {
    (void)from;
    CUresult (*f)(CUdeviceptr, unsigned char, size_t, CUstream) =
        (CUresult(*)(CUdeviceptr, unsigned char, size_t, CUstream))gr_driver_function("cuMemsetD8Async");
    return f ? f(to, 0, size, s) : CUDA_ERROR_NOT_FOUND;
}

// The CPU device does other work, too, while a thread waits.
static void *cpu_device_write(void) { return gr_real_dlsym(gr_driver_library(), "gr_cpu_device_write"); }

CUresult gr_aside_write(CUdeviceptr to, const void *from, size_t size) {
    int (*at_once)(unsigned long long, const void *, size_t) =
        (int (*)(unsigned long long, const void *, size_t))cpu_device_write();
    if (at_once)
        return (CUresult)at_once(to, from, size);
    CUresult rc = apart(copy, to, from, size);
    if (rc != CUDA_ERROR_NOT_FOUND)
        return rc;
    CUresult (*plain)(CUdeviceptr, const void *, size_t) =
        (CUresult(*)(CUdeviceptr, const void *, size_t))gr_driver_function("cuMemcpyHtoD");
    return plain ? plain(to, from, size) : CUDA_ERROR_NOT_FOUND;
}

CUdeviceptr gr_aside_take(size_t size) {
    unsigned long long (*own)(size_t) =
        (unsigned long long (*)(size_t))gr_real_dlsym(gr_driver_library(), "gr_cpu_device_take");
    if (own)
        return own(size);
    CUresult (*alloc)(CUdeviceptr *, size_t) =
        (CUresult(*)(CUdeviceptr *, size_t))gr_driver_function("cuMemAlloc");
    CUresult (*release)(CUdeviceptr) = (CUresult(*)(CUdeviceptr))gr_driver_function("cuMemFree");
    CUdeviceptr at = 0;
    unsigned before = gr_aside_begin();
    if (!alloc || alloc(&at, size) != CUDA_SUCCESS)
        at = 0;
    if (at && apart(clear, at, NULL, size) != CUDA_SUCCESS) {
        if (release)
            (void)release(at);
        at = 0;
    }
    gr_aside_end(before);
    return at;
}
