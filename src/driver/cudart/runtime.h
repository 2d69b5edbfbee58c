// SPDX-License-Identifier: Apache-2.0
// runtime — what the parts of our CUDA runtime library share.
//
// libcudart.so.13 and .12, written from NVIDIA's public headers over the CUDA driver API. A runtime call is: enter
// (load the driver, initialize it, make a context current to this thread), driver calls, leave (remember an
// error for cudaGetLastError). Nothing is done at load time but registration, since nvcc's constructors run
// before main.
//
// Nothing here knows which library implements the driver. Entry points are found as NVIDIA documents it, with
// dlopen("libcuda.so.1"), dlsym and cuGetProcAddress. So a library that interposes those sees every call.
//
// All of it is written for CUDA 13's headers; cuda12.h and cuda12.c make CUDA 12's ABI of it (GR_RT_MAJOR).
//
// The files that hold entry points with a _ptds/_ptsz twin are compiled twice, the second time with GR_RT_PER_THREAD.
// Then the headers' own renaming yields the twin's name, and GR_RT_DRIVER the per-thread table.
#ifndef GR_DRIVER_CUDART_RUNTIME_H
#define GR_DRIVER_CUDART_RUNTIME_H

#include <cuda.h> // before CUDA_API_PER_THREAD_DEFAULT_STREAM: the table's fields keep one name in both compilations

#ifdef GR_RT_PER_THREAD
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#endif
#include <cuda_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if GR_RT_MAJOR == 12
#include "driver/cudart/cuda12.h"
#else
typedef struct cudaDeviceProp DeviceProp;
#define GR_RT_VERSION CUDART_VERSION
#endif

// ---- the driver (driver_api.c)

// Of cudaProfiler.h, which is not in every distribution of the headers.
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

typedef struct DriverApi {
#define GR_DRIVER(fn, version, per_thread_version) __typeof__(&fn) fn;
#include "driver/cudart/driver.def"
#undef GR_DRIVER
} DriverApi;

// The tables for the legacy and for the per-thread default stream. Never a NULL slot: an entry point that the
// driver lacks reports its name and returns CUDA_ERROR_NOT_SUPPORTED. Valid after gr_rt_load().
extern DriverApi gr_rt_legacy, gr_rt_per_thread;

#ifdef GR_RT_PER_THREAD
#define GR_RT_DRIVER gr_rt_per_thread
#else
#define GR_RT_DRIVER gr_rt_legacy
#endif

// Loads the driver and calls cuInit, once per process; the same answer ever after.
cudaError_t gr_rt_load(void);

// The driver's cuGetProcAddress. CUDA_ERROR_NOT_FOUND before a successful gr_rt_load().
CUresult gr_rt_get_proc(const char *symbol, void **fn, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult *status);

// Says that the program called an entry point that does not exist here: calls gr_api_absent(name) if some
// library of the process exports it (libgpurace.so puts the name into its verdict).
void gr_rt_report_absent(const char *name);

// ---- contexts and devices (context.c)

#define GR_RT_MAX_DEVICES 64

// Loads the driver and makes a context current to this thread: the one that is, or the primary context of the
// thread's device.
cudaError_t gr_rt_enter(void);

// The thread's device, without creating a context.
int gr_rt_device(void);

// The primary context of a device, retained once.
cudaError_t gr_rt_primary(int device, CUcontext *ctx);

// ---- errors (error.c)

cudaError_t gr_rt_translate(CUresult r);

// Remembers `e`, if it is an error, as this thread's last error; returns it.
cudaError_t gr_rt_leave(cudaError_t e);

// How many times a device was reset: what a thread remembers of a context is stale when this changed.
unsigned gr_rt_generation(void);
// The device of this thread was reset: forgets the thread's sticky error, too.
void gr_rt_was_reset(void);

// ---- registered code (registration.c, symbol.c)

// The driver's kernel for a host stub address; an address that nothing registered is taken for a
// cudaKernel_t, as the header documents. Loads the image on first use.
cudaError_t gr_rt_kernel(const void *host_function, CUkernel *kernel);

// The stub for which a kernel was registered, or the kernel itself.
const void *gr_rt_host_function(CUkernel kernel);

// The kernel of a handle from __cudaGetKernel, which may stand for a kernel that could not be loaded.
cudaError_t gr_rt_kernel_of_handle(cudaKernel_t handle, CUkernel *kernel);

// A launch configuration as the driver takes it. The two APIs lay the attributes out alike.
_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "launch attributes");
_Static_assert(offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value), "launch attributes");
_Static_assert((int)cudaLaunchAttributeCooperative == (int)CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
               "launch attributes");
_Static_assert((int)cudaLaunchAttributeClusterDimension == (int)CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
               "launch attributes");

static inline CUlaunchConfig gr_rt_launch_config(const cudaLaunchConfig_t *c) {
    return (CUlaunchConfig){
        .gridDimX = c->gridDim.x,
        .gridDimY = c->gridDim.y,
        .gridDimZ = c->gridDim.z,
        .blockDimX = c->blockDim.x,
        .blockDimY = c->blockDim.y,
        .blockDimZ = c->blockDim.z,
        .sharedMemBytes = (unsigned)c->dynamicSmemBytes,
        .hStream = c->stream,
        .attrs = (CUlaunchAttribute *)c->attrs,
        .numAttrs = c->numAttrs,
    };
}

// Memory types of the two ends of a copy (box.c); false for no kind of copy.
bool gr_rt_ends(enum cudaMemcpyKind kind, CUmemorytype *src, CUmemorytype *dst);

// A copy of a box as the driver takes it, but for what depends on where the memory is.
cudaError_t gr_rt_box(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out);

// Address and size of a registered __device__, __constant__ or __managed__ variable.
cudaError_t gr_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *size);

// ---- the frame of most entry points

// Runs one driver call inside enter and leave, and returns its translated result from the calling function.
#define GR_RT_CALL(call)                                                                                     \
    do {                                                                                                     \
        cudaError_t error_ = gr_rt_enter();                                                                  \
        if (error_ == cudaSuccess)                                                                           \
            error_ = gr_rt_translate(GR_RT_DRIVER.call);                                                     \
        return gr_rt_leave(error_);                                                                          \
    } while (0)

// Leaves with an error if the condition does not hold.
#define GR_RT_REQUIRE(condition, error)                                                                      \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            return gr_rt_leave(error);                                                                       \
    } while (0)

#endif
