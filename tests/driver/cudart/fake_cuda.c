// SPDX-License-Identifier: Apache-2.0
// The fake driver of fake_cuda.h. It knows the entry points that test_cudart.c needs and no others, so the runtime's
// way with a driver that lacks one is tested too. Its entry points have internal names: all that it exports of the
// driver API is cuGetProcAddress_v2, so a runtime that bound a symbol directly would not load.
#include "fake_cuda.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT  __attribute__((visibility("default")))
#define DEVICES 2

static char call_log[8192];
static char failing[64];
static CUresult failure;
static CUresult sticky; // of the primary contexts
static struct CUctx_st { int device, retained; } contexts[DEVICES] = {{0, 0}, {1, 0}}, foreign = {0, 0};
static _Thread_local CUcontext current;
static unsigned primary_flags;

EXPORT const char *fake_take_log(void) {
    static char taken[sizeof call_log];
    memcpy(taken, call_log, sizeof taken);
    call_log[0] = 0;
    return taken;
}

EXPORT void fake_fail(const char *entry_point, CUresult r) {
    snprintf(failing, sizeof failing, "%s", r == CUDA_SUCCESS ? "" : entry_point);
    failure = r;
}

EXPORT CUcontext fake_context(void) { return &foreign; }

// Logs a call by the name before the parenthesis; returns what the call has to fail with.
__attribute__((format(printf, 1, 2))) static CUresult called(const char *fmt, ...) {
    size_t len = strlen(call_log);
    va_list args;
    va_start(args, fmt);
    char *call = call_log + len + (len != 0);
    if (len != 0 && len < sizeof call_log - 1)
        call_log[len] = ' ';
    vsnprintf(call, sizeof call_log - (size_t)(call - call_log), fmt, args);
    va_end(args);
    size_t name = strcspn(call, "(");
    if (failing[0] != 0 && strlen(failing) == name && strncmp(call, failing, name) == 0)
        return failure;
    return CUDA_SUCCESS;
}

// As called(), for calls that need a context.
#define CALLED(...)                                                                                          \
    do {                                                                                                     \
        CUresult failed_ = called(__VA_ARGS__);                                                              \
        if (failed_ != CUDA_SUCCESS)                                                                         \
            return failed_;                                                                                  \
        if (current == NULL)                                                                                 \
            return CUDA_ERROR_INVALID_CONTEXT;                                                               \
        if (sticky != CUDA_SUCCESS)                                                                          \
            return sticky;                                                                                   \
    } while (0)

static void *pointer(CUdeviceptr p) { return (void *)(uintptr_t)p; }
static CUdeviceptr dptr(const void *p) { return (CUdeviceptr)(uintptr_t)p; }
static const char *stream_name(CUstream s) {
    return s == NULL                   ? "0"
           : s == CU_STREAM_LEGACY     ? "legacy"
           : s == CU_STREAM_PER_THREAD ? "per-thread"
                                       : "s";
}

// ---- devices and contexts

static CUresult init(unsigned flags) { return called("cuInit(%u)", flags); }

static CUresult driver_get_version(int *v) {
    *v = 13000;
    return CUDA_SUCCESS;
}

static CUresult device_get(CUdevice *d, int ordinal) {
    if (ordinal < 0 || ordinal >= DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    *d = ordinal;
    return CUDA_SUCCESS;
}

static CUresult device_get_count(int *n) {
    *n = DEVICES;
    return CUDA_SUCCESS;
}

static CUresult device_get_name(char *name, int len, CUdevice d) {
    snprintf(name, (size_t)len, "Fake %d", d);
    return CUDA_SUCCESS;
}

static CUresult device_total_mem(size_t *bytes, CUdevice d) {
    *bytes = (size_t)(d + 1) << 30;
    return CUDA_SUCCESS;
}

static CUresult device_get_attribute(int *value, CUdevice_attribute a, CUdevice d) {
    (void)d;
    switch (a) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: *value = 1024; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *value = 1024; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 49152; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult primary_retain(CUcontext *ctx, CUdevice d) {
    CUresult r = called("cuDevicePrimaryCtxRetain(%d)", d);
    contexts[d].retained++;
    *ctx = &contexts[d];
    return r;
}

static CUresult primary_release(CUdevice d) {
    contexts[d].retained--;
    return called("cuDevicePrimaryCtxRelease(%d)", d);
}

static CUresult primary_reset(CUdevice d) {
    sticky = CUDA_SUCCESS;
    return called("cuDevicePrimaryCtxReset(%d)", d);
}

static CUresult primary_set_flags(CUdevice d, unsigned flags) {
    primary_flags = flags;
    return called("cuDevicePrimaryCtxSetFlags(%d,%u)", d, flags);
}

static CUresult primary_get_state(CUdevice d, unsigned *flags, int *active) {
    *flags = primary_flags;
    *active = contexts[d].retained > 0;
    return CUDA_SUCCESS;
}

static CUresult ctx_get_current(CUcontext *ctx) {
    *ctx = current;
    return CUDA_SUCCESS;
}

static CUresult ctx_set_current(CUcontext ctx) {
    current = ctx;
    return ctx == NULL ? called("cuCtxSetCurrent()") : called("cuCtxSetCurrent(%d)", ctx->device);
}

static CUresult ctx_get_device(CUdevice *d) {
    if (current == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *d = current->device;
    return CUDA_SUCCESS;
}

static CUresult ctx_get_flags(unsigned *flags) {
    *flags = primary_flags;
    return CUDA_SUCCESS;
}

static CUresult ctx_synchronize(void) {
    CALLED("cuCtxSynchronize()");
    return CUDA_SUCCESS;
}

// ---- libraries

static CUresult library_load_data(CUlibrary *library, const void *code, CUjit_option *jit, void **jit_values,
                                  unsigned jits, CUlibraryOption *options, void **values, unsigned count) {
    (void)jit, (void)jit_values;
    CALLED("cuLibraryLoadData(%u,%d=%d)", jits, count > 0 ? (int)options[0] : -1,
           count > 0 ? (int)(intptr_t)values[0] : -1);
    FakeImage *image = (FakeImage *)(uintptr_t)code;
    image->loads++;
    *library = (CUlibrary)image;
    return image->load_result;
}

static CUresult library_unload(CUlibrary library) {
    ((FakeImage *)library)->unloads++;
    return called("cuLibraryUnload()");
}

static CUresult library_get_kernel(CUkernel *kernel, CUlibrary library, const char *name) {
    CALLED("cuLibraryGetKernel(%s)", name);
    for (FakeKernel *k = ((FakeImage *)library)->kernels; k != NULL && k->name != NULL; k++)
        if (strcmp(k->name, name) == 0) {
            *kernel = (CUkernel)k;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static CUresult find_global(FakeGlobal *g, const char *name, CUdeviceptr *address, size_t *size) {
    for (; g != NULL && g->name != NULL; g++)
        if (strcmp(g->name, name) == 0) {
            *address = dptr(g->address);
            *size = g->size;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static CUresult library_get_global(CUdeviceptr *address, size_t *size, CUlibrary library, const char *name) {
    CALLED("cuLibraryGetGlobal(%s)", name);
    return find_global(((FakeImage *)library)->globals, name, address, size);
}

static CUresult library_get_managed(CUdeviceptr *address, size_t *size, CUlibrary library, const char *name) {
    CALLED("cuLibraryGetManaged(%s)", name);
    return find_global(((FakeImage *)library)->managed, name, address, size);
}

static CUresult kernel_get_attribute(int *value, CUfunction_attribute a, CUkernel kernel, CUdevice d) {
    (void)kernel, (void)d;
    if (a > CU_FUNC_ATTRIBUTE_BINARY_VERSION)
        return CUDA_ERROR_INVALID_VALUE;
    *value = 100 + (int)a;
    return CUDA_SUCCESS;
}

// ---- launches

static CUresult run(const char *entry_point, CUfunction f, const unsigned *grid, const unsigned *block,
                    unsigned shared, CUstream stream, void **parameters) {
    FakeKernel *k = (FakeKernel *)f;
    CALLED("%s(%s,%u,%u,%u,%u,%u,%u,%u,%s)", entry_point, k->name, grid[0], grid[1], grid[2], block[0],
           block[1], block[2], shared, stream_name(stream));
    if (block[0] * block[1] * block[2] > 1024 || shared > 49152)
        return CUDA_ERROR_INVALID_VALUE;
    if (k->run != NULL)
        k->run(parameters);
    sticky = k->outcome;
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, CUstream stream, void **parameters, void **extra) {
    if (extra != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return run("cuLaunchKernel", f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, stream,
               parameters);
}

static CUresult launch_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared, CUstream stream, void **parameters, void **extra) {
    (void)extra;
    return run("cuLaunchKernel_ptsz", f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, stream,
               parameters);
}

static CUresult launch_ex(const CUlaunchConfig *c, CUfunction f, void **parameters, void **extra) {
    (void)extra;
    if (c->numAttrs > 0)
        called("attribute(%d,%d)", (int)c->attrs[0].id, c->attrs[0].value.cooperative);
    return run("cuLaunchKernelEx", f, &c->gridDimX, &c->blockDimX, c->sharedMemBytes, c->hStream, parameters);
}

static CUresult add_callback(CUstream stream, CUstreamCallback fn, void *data, unsigned flags) {
    CALLED("cuStreamAddCallback(%s,%u)", stream_name(stream), flags);
    fn(stream, CUDA_ERROR_LAUNCH_FAILED, data);
    return CUDA_SUCCESS;
}

// ---- memory

static CUresult mem_alloc(CUdeviceptr *p, size_t size) {
    CALLED("cuMemAlloc(%zu)", size);
    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (size > (size_t)1 << 40)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *p = dptr(malloc(size));
    return CUDA_SUCCESS;
}

static CUresult mem_alloc_pitch(CUdeviceptr *p, size_t *pitch, size_t width, size_t height,
                                unsigned element) {
    *pitch = (width + 511) / 512 * 512;
    CALLED("cuMemAllocPitch(%zu,%zu,%u)", width, height, element);
    *p = dptr(malloc(*pitch * height));
    return CUDA_SUCCESS;
}

static CUresult mem_free(CUdeviceptr p) {
    CALLED("cuMemFree()");
    free(pointer(p));
    return CUDA_SUCCESS;
}

static CUresult mem_host_alloc(void **p, size_t size, unsigned flags) {
    CALLED("cuMemHostAlloc(%zu,%u)", size, flags);
    *p = malloc(size);
    return CUDA_SUCCESS;
}

static CUresult mem_free_host(void *p) {
    CALLED("cuMemFreeHost()");
    free(p);
    return CUDA_SUCCESS;
}

static CUresult pointer_get_attributes(unsigned n, CUpointer_attribute *names, void **values, CUdeviceptr p) {
    CALLED("cuPointerGetAttributes(%u)", n);
    for (unsigned i = 0; i < n; i++) // odd addresses stand for pageable memory
        if ((p & 1) == 0 && names[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
            *(CUmemorytype *)values[i] = CU_MEMORYTYPE_DEVICE;
        else if ((p & 1) == 0 && names[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
            *(CUdeviceptr *)values[i] = p;
    return CUDA_SUCCESS;
}

#define COPY(function, entry_point, dst_type, src_type, to, from)                                            \
    static CUresult function(dst_type dst, src_type src, size_t n) {                                         \
        CALLED(entry_point "(%zu)", n);                                                                      \
        memcpy(to, from, n);                                                                                 \
        return CUDA_SUCCESS;                                                                                 \
    }                                                                                                        \
    static CUresult function##_async(dst_type dst, src_type src, size_t n, CUstream stream) {                \
        CALLED(entry_point "Async(%zu,%s)", n, stream_name(stream));                                         \
        memcpy(to, from, n);                                                                                 \
        return CUDA_SUCCESS;                                                                                 \
    }
COPY(copy_any, "cuMemcpy", CUdeviceptr, CUdeviceptr, pointer(dst), pointer(src))
COPY(copy_htod, "cuMemcpyHtoD", CUdeviceptr, const void *, pointer(dst), src)
COPY(copy_dtoh, "cuMemcpyDtoH", void *, CUdeviceptr, dst, pointer(src))
COPY(copy_dtod, "cuMemcpyDtoD", CUdeviceptr, CUdeviceptr, pointer(dst), pointer(src))

static CUresult copy_htod_ptds(CUdeviceptr dst, const void *src, size_t n) {
    CALLED("cuMemcpyHtoD_ptds(%zu)", n);
    memcpy(pointer(dst), src, n);
    return CUDA_SUCCESS;
}

static CUresult copy_peer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n) {
    CALLED("cuMemcpyPeer(%d,%d,%zu)", to->device, from->device, n);
    memcpy(pointer(dst), pointer(src), n);
    return CUDA_SUCCESS;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c) {
    CALLED("cuMemcpy2DUnaligned(%d->%d,%zux%zu)", (int)c->srcMemoryType, (int)c->dstMemoryType,
           c->WidthInBytes, c->Height);
    const char *src = c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : pointer(c->srcDevice);
    char *dst = c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : pointer(c->dstDevice);
    for (size_t y = 0; y < c->Height; y++)
        memcpy(dst + y * c->dstPitch, src + y * c->srcPitch, c->WidthInBytes);
    return CUDA_SUCCESS;
}

static CUresult copy_3d(const CUDA_MEMCPY3D *c) {
    CALLED("cuMemcpy3D(%d->%d,%zux%zux%zu)", (int)c->srcMemoryType, (int)c->dstMemoryType, c->WidthInBytes,
           c->Height, c->Depth);
    const char *src = c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : pointer(c->srcDevice);
    char *dst = c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : pointer(c->dstDevice);
    for (size_t z = 0; z < c->Depth; z++)
        for (size_t y = 0; y < c->Height; y++)
            memcpy(dst + ((c->dstZ + z) * c->dstHeight + c->dstY + y) * c->dstPitch + c->dstXInBytes,
                   src + ((c->srcZ + z) * c->srcHeight + c->srcY + y) * c->srcPitch + c->srcXInBytes,
                   c->WidthInBytes);
    return CUDA_SUCCESS;
}

static CUresult set_d8(CUdeviceptr p, unsigned char byte, size_t n) {
    CALLED("cuMemsetD8(%d,%zu)", byte, n);
    memset(pointer(p), byte, n);
    return CUDA_SUCCESS;
}

static CUresult set_2d(CUdeviceptr p, size_t pitch, unsigned char byte, size_t width, size_t height) {
    CALLED("cuMemsetD2D8(%zu,%d,%zux%zu)", pitch, byte, width, height);
    for (size_t y = 0; y < height; y++)
        memset((char *)pointer(p) + y * pitch, byte, width);
    return CUDA_SUCCESS;
}

// ---- streams and events

static CUresult stream_create(CUstream *s, unsigned flags) {
    static char handle;
    CALLED("cuStreamCreate(%u)", flags);
    *s = (CUstream)&handle;
    return CUDA_SUCCESS;
}

static CUresult stream_destroy(CUstream s) {
    CALLED("cuStreamDestroy(%s)", stream_name(s));
    return CUDA_SUCCESS;
}

static CUresult stream_query(CUstream s) {
    CALLED("cuStreamQuery(%s)", stream_name(s));
    return CUDA_SUCCESS;
}

static CUresult stream_synchronize(CUstream s) {
    CALLED("cuStreamSynchronize(%s)", stream_name(s));
    return CUDA_SUCCESS;
}

static CUresult stream_synchronize_ptsz(CUstream s) {
    CALLED("cuStreamSynchronize_ptsz(%s)", stream_name(s));
    return CUDA_SUCCESS;
}

// ---- the way in

typedef struct Entry {
    const char *name;
    int version; // asked for with another version: not found
    cuuint64_t flag;
    void *fn;
} Entry;

#define LEGACY 1
#define TWIN   2

static const Entry entries[] = {
    {"cuInit", 2000, LEGACY, (void *)init},
    {"cuDriverGetVersion", 2020, LEGACY, (void *)driver_get_version},
    {"cuDeviceGet", 2000, LEGACY, (void *)device_get},
    {"cuDeviceGetCount", 2000, LEGACY, (void *)device_get_count},
    {"cuDeviceGetName", 2000, LEGACY, (void *)device_get_name},
    {"cuDeviceTotalMem", 3020, LEGACY, (void *)device_total_mem},
    {"cuDeviceGetAttribute", 2000, LEGACY, (void *)device_get_attribute},
    {"cuDevicePrimaryCtxRetain", 7000, LEGACY, (void *)primary_retain},
    {"cuDevicePrimaryCtxRelease", 11000, LEGACY, (void *)primary_release},
    {"cuDevicePrimaryCtxReset", 11000, LEGACY, (void *)primary_reset},
    {"cuDevicePrimaryCtxSetFlags", 11000, LEGACY, (void *)primary_set_flags},
    {"cuDevicePrimaryCtxGetState", 7000, LEGACY, (void *)primary_get_state},
    {"cuCtxGetCurrent", 4000, LEGACY, (void *)ctx_get_current},
    {"cuCtxSetCurrent", 4000, LEGACY, (void *)ctx_set_current},
    {"cuCtxGetDevice", 2000, LEGACY, (void *)ctx_get_device},
    {"cuCtxGetFlags", 7000, LEGACY, (void *)ctx_get_flags},
    {"cuCtxSynchronize", 2000, LEGACY, (void *)ctx_synchronize},
    {"cuLibraryLoadData", 12000, LEGACY, (void *)library_load_data},
    {"cuLibraryUnload", 12000, LEGACY, (void *)library_unload},
    {"cuLibraryGetKernel", 12000, LEGACY, (void *)library_get_kernel},
    {"cuLibraryGetGlobal", 12000, LEGACY, (void *)library_get_global},
    {"cuLibraryGetManaged", 12000, LEGACY, (void *)library_get_managed},
    {"cuKernelGetAttribute", 12000, LEGACY, (void *)kernel_get_attribute},
    {"cuLaunchKernel", 4000, LEGACY, (void *)launch},
    {"cuLaunchKernel", 7000, TWIN, (void *)launch_ptsz},
    {"cuLaunchKernelEx", 11060, LEGACY, (void *)launch_ex},
    {"cuStreamAddCallback", 5000, LEGACY, (void *)add_callback},
    {"cuMemAlloc", 3020, LEGACY, (void *)mem_alloc},
    {"cuMemAllocPitch", 3020, LEGACY, (void *)mem_alloc_pitch},
    {"cuMemFree", 3020, LEGACY, (void *)mem_free},
    {"cuMemHostAlloc", 2020, LEGACY, (void *)mem_host_alloc},
    {"cuMemFreeHost", 2000, LEGACY, (void *)mem_free_host},
    {"cuPointerGetAttributes", 7000, LEGACY, (void *)pointer_get_attributes},
    {"cuMemcpy", 4000, LEGACY, (void *)copy_any},
    {"cuMemcpyAsync", 4000, LEGACY, (void *)copy_any_async},
    {"cuMemcpyHtoD", 3020, LEGACY, (void *)copy_htod},
    {"cuMemcpyHtoD", 7000, TWIN, (void *)copy_htod_ptds},
    {"cuMemcpyHtoDAsync", 3020, LEGACY, (void *)copy_htod_async},
    {"cuMemcpyDtoH", 3020, LEGACY, (void *)copy_dtoh},
    {"cuMemcpyDtoHAsync", 3020, LEGACY, (void *)copy_dtoh_async},
    {"cuMemcpyDtoD", 3020, LEGACY, (void *)copy_dtod},
    {"cuMemcpyDtoDAsync", 3020, LEGACY, (void *)copy_dtod_async},
    {"cuMemcpyPeer", 4000, LEGACY, (void *)copy_peer},
    {"cuMemcpy2DUnaligned", 3020, LEGACY, (void *)copy_2d},
    {"cuMemcpy3D", 3020, LEGACY, (void *)copy_3d},
    {"cuMemsetD8", 3020, LEGACY, (void *)set_d8},
    {"cuMemsetD2D8", 3020, LEGACY, (void *)set_2d},
    {"cuStreamCreate", 2000, LEGACY, (void *)stream_create},
    {"cuStreamDestroy", 4000, LEGACY, (void *)stream_destroy},
    {"cuStreamQuery", 2000, LEGACY, (void *)stream_query},
    {"cuStreamSynchronize", 2000, LEGACY, (void *)stream_synchronize},
    {"cuStreamSynchronize", 7000, TWIN, (void *)stream_synchronize_ptsz},
};

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **fn, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status);
EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **fn, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status) {
    *fn = NULL;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strcmp(entries[i].name, symbol) == 0 && entries[i].flag == flags && entries[i].version == version)
            *fn = entries[i].fn;
    if (status != NULL)
        *status = *fn != NULL ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *fn != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
