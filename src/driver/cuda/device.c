// SPDX-License-Identifier: Apache-2.0
// device — what a program can ask about the CPU devices.
#include "driver/cuda/driver.h"
#include "driver/cuda/memory.h"

#include <limits.h>
#include <stdio.h>

CUresult cuDeviceGetCount(int *count) {
    API_ENTER(API_INIT, NULL);
    if (!count)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *count = gr_cu.n_devices;
    return gr_cu_leave(CUDA_SUCCESS);
}

// Enters; *d is the device, or the call ends here. `out` is the pointer that must not be NULL.
#define DEVICE_ENTER(ordinal, out, d)                                                                        \
    API_ENTER(API_INIT, NULL);                                                                               \
    Dev *d = gr_cu_device(ordinal);                                                                          \
    if (!(d) || !(out))                                                                                      \
    return gr_cu_leave((out) ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE)

CUresult cuDeviceGet(CUdevice *out, int ordinal) {
    DEVICE_ENTER(ordinal, out, d);
    *out = d->ordinal;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char *name, int len, CUdevice device) {
    DEVICE_ENTER(device, name, d);
    if (len <= 0)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    snprintf(name, (size_t)len, "gpurace CPU device");
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    DEVICE_ENTER(device, uuid, d);
    memcpy(uuid->bytes, "gpurace CPU dev", 15);
    uuid->bytes[15] = (char)d->ordinal;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    DEVICE_ENTER(device, bytes, d);
    uint64_t used, total;
    gr_vm_mem_info(gr_cu.mem, d->ordinal, &used, &total);
    *bytes = total;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    DEVICE_ENTER(device, value, d);
    const VmProps *p = d->props;
    if (attribute < CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *value = 0;
    switch (attribute) {
#define ATTR(name, v)                                                                                        \
    case CU_DEVICE_ATTRIBUTE_##name:                                                                         \
        *value = (int)(v);                                                                                   \
        break;
#include "driver/cuda/attributes.def"
#undef ATTR
    default: break;
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice device) {
    DEVICE_ENTER(device, prop, d);
    const VmProps *p = d->props;
    *prop = (CUdevprop){
        .maxThreadsPerBlock = (int)p->max_threads_per_block,
        .sharedMemPerBlock = (int)p->shared_per_block,
        .totalConstantMemory = (int)p->const_bytes,
        .SIMDWidth = (int)p->warp_size,
        .memPitch = INT_MAX,
        .regsPerBlock = (int)p->regs_per_block,
        .clockRate = (int)p->clock_khz,
        .textureAlign = 512,
    };
    for (int i = 0; i < 3; i++) {
        prop->maxThreadsDim[i] = (int)p->max_block[i];
        prop->maxGridSize[i] = (int)p->max_grid[i];
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    DEVICE_ENTER(device, major && minor, d);
    *major = (int)d->props->cc_major;
    *minor = (int)d->props->cc_minor;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice device) {
    DEVICE_ENTER(device, id, d);
    int n = len > 0 ? snprintf(id, (size_t)len, "0000:%02X:00.0", 1 + d->ordinal) : len;
    return gr_cu_leave(n < len ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *id) {
    API_ENTER(API_INIT, NULL);
    unsigned domain = 0, bus = 0, dev = 0, fn = 0;
    if (!out || !id)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &dev, &fn) < 3) {
        domain = fn = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &dev, &fn) < 2)
            return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    }
    if (domain || dev || fn || bus < 1 || !gr_cu_device((int)bus - 1))
        return gr_cu_leave(CUDA_ERROR_INVALID_DEVICE);
    *out = (int)bus - 1;
    return gr_cu_leave(CUDA_SUCCESS);
}

// All devices share one address space.
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    DEVICE_ENTER(device, can, d);
    Dev *other = gr_cu_device(peer);
    if (!other)
        return gr_cu_leave(CUDA_ERROR_INVALID_DEVICE);
    *can = d != other;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice src, CUdevice dst) {
    DEVICE_ENTER(src, value, d);
    Dev *other = gr_cu_device(dst);
    if (!other || other == d)
        return gr_cu_leave(CUDA_ERROR_INVALID_DEVICE);
    switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = 1; break;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: *value = 0; break;
    default: return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetExecAffinitySupport(int *value, CUexecAffinityType type, CUdevice device) {
    DEVICE_ENTER(device, value, d);
    (void)d, (void)type;
    *value = 0;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device) {
    DEVICE_ENTER(device, out, d);
    *out = (CUmemoryPool)d->default_pool;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device) {
    DEVICE_ENTER(device, out, d);
    *out = (CUmemoryPool)d->pool;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
    DEVICE_ENTER(device, handle, d);
    MemPool *pool = gr_cu_handle(handle, HANDLE_POOL);
    if (!pool || pool->dev != d)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    d->pool = pool;
    return gr_cu_leave(CUDA_SUCCESS);
}
