// SPDX-License-Identifier: Apache-2.0
// context — which device and context a thread works on.
//
// The runtime uses the context that is current to the thread, whatever call made it current (driver API code may mix
// in). A thread without a context gets the primary context of its device, which is 0 unless cudaSetDevice said
// otherwise. Primary contexts are retained once per process. A reset makes every thread's remembered binding stale; a
// generation number tells.
#include "driver/cudart/runtime.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary[GR_RT_MAX_DEVICES];

static _Thread_local int selected_device;
static _Thread_local CUcontext bound_context; // the primary context that bind() made current, and when
static _Thread_local unsigned bound_generation;

// A context that the driver API made current is left alone; one of the runtime's may have been reset meanwhile.
static bool is_usable(CUcontext current) {
    return current != NULL && (current != bound_context || bound_generation == gr_rt_generation());
}

cudaError_t gr_rt_primary(int device, CUcontext *ctx) {
    cudaError_t e = cudaSuccess;
    if (device < 0 || device >= GR_RT_MAX_DEVICES)
        return cudaErrorInvalidDevice;
    pthread_mutex_lock(&lock);
    if (primary[device] == NULL) {
        CUdevice handle = 0;
        e = gr_rt_translate(gr_rt_legacy.cuDeviceGet(&handle, device));
        if (e == cudaSuccess)
            e = gr_rt_translate(gr_rt_legacy.cuDevicePrimaryCtxRetain(&primary[device], handle));
    }
    *ctx = primary[device];
    pthread_mutex_unlock(&lock);
    return e;
}

static cudaError_t bind(int device) {
    CUcontext ctx = NULL;
    unsigned now = gr_rt_generation();
    cudaError_t e = gr_rt_primary(device, &ctx);
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuCtxSetCurrent(ctx));
    if (e == cudaSuccess) {
        selected_device = device;
        bound_context = ctx;
        bound_generation = now;
    }
    return e;
}

cudaError_t gr_rt_enter(void) {
    cudaError_t e = gr_rt_load();
    if (e != cudaSuccess)
        return e;
    CUcontext current = NULL;
    e = gr_rt_translate(gr_rt_legacy.cuCtxGetCurrent(&current));
    if (e != cudaSuccess)
        return e;
    return is_usable(current) ? cudaSuccess : bind(selected_device);
}

int gr_rt_device(void) {
    CUcontext current = NULL;
    CUdevice device = 0;
    if (gr_rt_legacy.cuCtxGetCurrent(&current) == CUDA_SUCCESS && is_usable(current) &&
        gr_rt_legacy.cuCtxGetDevice(&device) == CUDA_SUCCESS)
        return device;
    return selected_device;
}

// ---- entry points

cudaError_t CUDARTAPI cudaSetDevice(int device) {
    cudaError_t e = gr_rt_load();
    if (e == cudaSuccess)
        e = bind(device);
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaGetDevice(int *device) {
    GR_RT_REQUIRE(device != NULL, cudaErrorInvalidValue);
    cudaError_t e = gr_rt_load();
    if (e == cudaSuccess)
        *device = gr_rt_device();
    return gr_rt_leave(e);
}

static cudaError_t set_flags(int device, unsigned flags) {
    const unsigned valid =
        cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
    CUdevice handle = 0;
    if ((flags & ~valid) != 0)
        return cudaErrorInvalidValue;
    cudaError_t e = gr_rt_translate(gr_rt_legacy.cuDeviceGet(&handle, device));
    // The primary context always maps host memory, and the driver has no flag to ask for it.
    if (e == cudaSuccess)
        e = gr_rt_translate(
            gr_rt_legacy.cuDevicePrimaryCtxSetFlags(handle, flags & ~(unsigned)cudaDeviceMapHost));
    return e;
}

cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) {
    GR_RT_REQUIRE((flags & ~(unsigned)cudaInitDeviceFlagsAreValid) == 0, cudaErrorInvalidValue);
    CUcontext ctx = NULL;
    cudaError_t e = gr_rt_load();
    if (e == cudaSuccess && (flags & cudaInitDeviceFlagsAreValid) != 0)
        e = set_flags(device, deviceFlags);
    if (e == cudaSuccess)
        e = gr_rt_primary(device, &ctx);
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned int flags) {
    cudaError_t e = gr_rt_load();
    if (e == cudaSuccess)
        e = set_flags(gr_rt_device(), flags);
    if (e == cudaSuccess)
        e = gr_rt_enter();
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned int *flags) {
    GR_RT_REQUIRE(flags != NULL, cudaErrorInvalidValue);
    CUcontext current = NULL;
    cudaError_t e = gr_rt_load();
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuCtxGetCurrent(&current));
    if (e != cudaSuccess)
        return gr_rt_leave(e);
    if (current != NULL) {
        e = gr_rt_translate(gr_rt_legacy.cuCtxGetFlags(flags));
    } else {
        CUdevice handle = 0;
        int active = 0;
        e = gr_rt_translate(gr_rt_legacy.cuDeviceGet(&handle, selected_device));
        if (e == cudaSuccess)
            e = gr_rt_translate(gr_rt_legacy.cuDevicePrimaryCtxGetState(handle, flags, &active));
    }
    if (e == cudaSuccess)
        *flags |= cudaDeviceMapHost; // implicit in the runtime, as the header says
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceReset(void) {
    CUdevice handle = 0;
    cudaError_t e = gr_rt_load();
    if (e != cudaSuccess)
        return gr_rt_leave(e);
    int device = gr_rt_device();
    e = gr_rt_translate(gr_rt_legacy.cuDeviceGet(&handle, device));
    if (e != cudaSuccess)
        return gr_rt_leave(e);
    pthread_mutex_lock(&lock);
    if (device < GR_RT_MAX_DEVICES && primary[device] != NULL) {
        e = gr_rt_translate(gr_rt_legacy.cuDevicePrimaryCtxReset(handle));
        if (e == cudaSuccess) {
            // A reset does not give back the reference that was retained.
            gr_rt_legacy.cuDevicePrimaryCtxRelease(handle);
            gr_rt_legacy.cuCtxSetCurrent(NULL);
            primary[device] = NULL;
            gr_rt_was_reset();
        }
    }
    pthread_mutex_unlock(&lock);
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceSynchronize(void) { GR_RT_CALL(cuCtxSynchronize()); }

// Peer access is between contexts in the driver, between devices here.
cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
    CUcontext peer = NULL;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_primary(peerDevice, &peer);
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuCtxEnablePeerAccess(peer, flags));
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peerDevice) {
    CUcontext peer = NULL;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_primary(peerDevice, &peer);
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuCtxDisablePeerAccess(peer));
    return gr_rt_leave(e);
}
