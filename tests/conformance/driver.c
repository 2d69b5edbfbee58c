// SPDX-License-Identifier: Apache-2.0
// The CUDA driver API of the conformance program; see driver.h.
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int Result;
typedef void *Handle;

#define CALLS(X)                                                                                             \
    X(cuInit, (unsigned))                                                                                    \
    X(cuDriverGetVersion, (int *))                                                                           \
    X(cuDeviceGet, (int *, int))                                                                             \
    X(cuDeviceGetName, (char *, int, int))                                                                   \
    X(cuDeviceGetAttribute, (int *, int, int))                                                               \
    X(cuDevicePrimaryCtxRetain, (Handle *, int))                                                             \
    X(cuCtxSetCurrent, (Handle))                                                                             \
    X(cuCtxSynchronize, (void))                                                                              \
    X(cuModuleLoadDataEx, (Handle *, const void *, unsigned, int *, void **))                                \
    X(cuModuleUnload, (Handle))                                                                              \
    X(cuModuleGetFunction, (Handle *, Handle, const char *))                                                 \
    X(cuMemAlloc_v2, (uint64_t *, size_t))                                                                   \
    X(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t))                                                     \
    X(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                                                           \
    X(cuLaunchKernel, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, \
                       void **, void **))                                                                    \
    X(cuGetErrorName, (Result, const char **))

#define DECLARE(name, args) static Result(*name) args;
CALLS(DECLARE)

enum { BUFFER = 16 << 20 }; // of inputs, and of outputs
static uint64_t device_in, device_out;

static const char *error_name(Result r) {
    const char *name = NULL;
    static char number[32];
    if (cuGetErrorName(r, &name) == 0 && name)
        return name;
    snprintf(number, sizeof number, "error %d", r);
    return number;
}

bool driver_open(const char *library, DriverInfo *info) {
    void *lib = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!lib) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
#define FIND(name, args) *(void **)(&name) = dlsym(lib, #name);
    CALLS(FIND)
#define CHECK(name, args)                                                                                    \
    if (!name) {                                                                                             \
        fprintf(stderr, "%s lacks " #name "\n", library);                                                    \
        return false;                                                                                        \
    }
    CALLS(CHECK)
    int device;
    Handle context;
    memset(info, 0, sizeof *info);
    Result r = cuInit(0);
    if (!r)
        r = cuDriverGetVersion(&info->version);
    if (!r)
        r = cuDeviceGet(&device, 0);
    if (!r)
        r = cuDeviceGetName(info->name, sizeof info->name, device);
    if (!r)
        r = cuDeviceGetAttribute(&info->major, 75, device);
    if (!r)
        r = cuDeviceGetAttribute(&info->minor, 76, device);
    if (!r)
        r = cuDevicePrimaryCtxRetain(&context, device);
    if (!r)
        r = cuCtxSetCurrent(context);
    if (!r)
        r = cuMemAlloc_v2(&device_in, BUFFER);
    if (!r)
        r = cuMemAlloc_v2(&device_out, BUFFER);
    if (r)
        fprintf(stderr, "%s: %s\n", library, error_name(r));
    return r == 0;
}

static char jit_log[4096], message[sizeof jit_log + 128];

static Result load(const char *ptx, Handle *module) {
    enum { ERROR_LOG_BUFFER = 5, ERROR_LOG_BUFFER_SIZE_BYTES = 6 };
    int options[] = {ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {jit_log, (void *)(uintptr_t)sizeof jit_log};
    jit_log[0] = 0;
    return cuModuleLoadDataEx(module, ptx, 2, options, values);
}

// Unloads the module, and says what went wrong where.
static const char *end(Result r, const char *where, Handle module) {
    if (module)
        cuModuleUnload(module);
    if (!r)
        return NULL;
    for (char *p = jit_log; *p; p++)
        if (*p == '\n' || *p == '\t')
            *p = ' ';
    snprintf(message, sizeof message, "%s: %s %s", where, error_name(r), jit_log);
    return message;
}

const char *driver_run(const char *ptx, const void *param, const void *in, size_t in_bytes, void *out,
                       size_t out_bytes, uint32_t n, uint32_t block, bool *rejected) {
    Handle module = NULL, kernel;
    const char *where = "load";
    *rejected = false;
    if (in_bytes > BUFFER || out_bytes > BUFFER)
        return "too large";
    Result r = load(ptx, &module);
    *rejected = r != 0;
    if (!r)
        where = "function", r = cuModuleGetFunction(&kernel, module, "k");
    if (!r)
        where = "copy", r = cuMemcpyHtoD_v2(device_in, in, in_bytes);
    if (!r)
        r = cuMemcpyHtoD_v2(device_out, out, out_bytes);
    void *params[] = {&device_in, &device_out, &n, (void *)(uintptr_t)param};
    if (!r)
        where = "launch",
        r = cuLaunchKernel(kernel, (n + block - 1) / block, 1, 1, block, 1, 1, 0, NULL, params, NULL);
    if (!r)
        where = "run", r = cuCtxSynchronize();
    if (!r)
        where = "copy back", r = cuMemcpyDtoH_v2(out, device_out, out_bytes);
    return end(r, where, module);
}

const char *driver_run_on(const char *ptx, void *memory, size_t bytes, const size_t *offset, unsigned n,
                          uint32_t grid, uint32_t block) {
    Handle module = NULL, kernel;
    uint64_t address[8];
    void *params[8];
    const char *where = "load";
    if (bytes > BUFFER || n > 8)
        return "too large";
    for (unsigned k = 0; k < n; k++) {
        address[k] = device_out + offset[k];
        params[k] = &address[k];
    }
    Result r = load(ptx, &module);
    if (!r)
        where = "function", r = cuModuleGetFunction(&kernel, module, "k");
    if (!r)
        where = "copy", r = cuMemcpyHtoD_v2(device_out, memory, bytes);
    if (!r)
        where = "launch", r = cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, 0, NULL, params, NULL);
    if (!r)
        where = "run", r = cuCtxSynchronize();
    if (!r)
        where = "copy back", r = cuMemcpyDtoH_v2(memory, device_out, bytes);
    return end(r, where, module);
}
