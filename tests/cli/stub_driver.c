// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 that runs nothing: it stands in for NVIDIA's in the tests of the injection. It writes what it is asked
// to the file $STUB_LOG, and a "launch" of a kernel named race* stores into the first slot of the module's control
// variable what a device runtime would.
#include "stub_driver.h"

#include "engines/collider/device/record.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stub_say(const char *fmt, ...) {
    FILE *f = getenv("STUB_LOG") ? fopen(getenv("STUB_LOG"), "a") : NULL;
    if (!f)
        return;
    va_list ap;
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    fputc('\n', f);
    fclose(f);
}

typedef struct Module {
    GrControl control;
    char control_name[64];
    const char *image;
} Module;

typedef struct Function {
    Module *module;
    char name[64];
} Function;

static int context;

STUB_EXPORT CUresult cuInit(unsigned flags) {
    stub_say("init");
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuDeviceGetCount(int *n) {
    return *n = getenv("STUB_UNLIKE_DEVICES") ? 2 : 1, CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) {
    *v = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 - d : 0;
    return CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuDriverGetVersion(int *v) {
    return *v = getenv("STUB_VERSION") ? atoi(getenv("STUB_VERSION")) : 0, CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuCtxGetDevice(CUdevice *d) { return *d = 0, CUDA_SUCCESS; }
// What the name stands for from 13.0 on has two parameters. The injection passes one: it must not ask for the newest.
STUB_EXPORT CUresult cuCtxGetDevice_v2(CUdevice *d, CUcontext c) {
    (void)d, (void)c;
    abort();
}
static CUcontext current; // with $STUB_NO_CONTEXT; else there always is one
STUB_EXPORT CUresult cuCtxGetCurrent(CUcontext *c) {
    return *c = getenv("STUB_NO_CONTEXT") ? current : (CUcontext)&context, CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext c) {
    stub_say("context push");
    return current = c, CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *c) {
    stub_say("context pop");
    return *c = current, current = NULL, CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
    stub_say("context retain %d", d);
    return *c = (CUcontext)&context, CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) {
    stub_say("context release %d", d);
    return CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuCtxSynchronize(void) {
    const char *error = getenv("STUB_SYNC_ERROR");
    return error ? (CUresult)atoi(error) : CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuMemHostRegister_v2(void *p, size_t n, unsigned flags) {
    (void)p;
    stub_say("register %zu %u", n, flags);
    return getenv("STUB_NO_REGISTER") ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags) {
    (void)flags;
    return *p = calloc(1, n), CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *p, unsigned flags) {
    (void)flags;
    return *out = (CUdeviceptr)(uintptr_t)p, CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *c) {
    return c->WidthInBytes ? CUDA_SUCCESS
                           : CUDA_ERROR_INVALID_VALUE; // there is no device's memory to copy from
}
STUB_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr at) {
    memset(out, 0, sizeof *out);
    return at ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
STUB_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t n) {
    memcpy((void *)(uintptr_t)dst, src, n);
    return CUDA_SUCCESS;
}

// The PTX in a container of one entry; says what its compiler is told.
static const char *unpacked(const void *container) {
    uint64_t size;
    memcpy(&size, (const char *)container + 8, sizeof size);
    const char *options = memmem(container, size, "--", 2);
    const char *own = memmem(container, size, "-maxrregcount", 13);
    options = own ? own : options;
    stub_say("options %s", options && options < (const char *)container + 256 ? options : "");
    return memmem(container, size, ".version ", 9);
}

STUB_EXPORT CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned v, size_t n, CUstream stream) {
    (void)stream;
    for (unsigned *p = (unsigned *)(uintptr_t)dst; n--; p++)
        *p = v;
    return CUDA_SUCCESS;
}

// A launch takes a microsecond, and twenty more if all windows open.
static double now_us;
STUB_EXPORT CUresult cuEventCreate(CUevent *e, unsigned flags) {
    (void)flags;
    return *e = (CUevent)calloc(1, sizeof(double)), CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuEventRecord(CUevent e, CUstream stream) {
    (void)stream;
    return *(double *)e = now_us, CUDA_SUCCESS;
}
STUB_EXPORT CUresult cuEventQuery(CUevent e) { return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }
#undef cuEventElapsedTime // under the name that the injection asks for
STUB_EXPORT CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b);
STUB_EXPORT CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) {
    return *ms = (float)((*(double *)b - *(double *)a) / 1e3), CUDA_SUCCESS;
}

STUB_EXPORT CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    Module *m = calloc(1, sizeof *m);
    bool packed = !memcmp(image, "\x50\xed\x55\xba", 4);
    if (packed)
        image = unpacked(image);
    if (packed && getenv("STUB_NO_CONTAINER"))
        return CUDA_ERROR_INVALID_IMAGE;
    m->image = image;
    stub_say("load %.20s", (const char *)image);
    if (strstr(m->image, "REFUSE_REWRITTEN") && strstr(m->image, "@gr"))
        return CUDA_ERROR_INVALID_PTX;
    if (!strncmp(image, "// linked", 9) && getenv("STUB_LINK") && !strcmp(getenv("STUB_LINK"), "output"))
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    const char *control = strstr(m->image, "__gr"), *end = control ? strstr(control, "_control") : NULL;
    while (control && end && memchr(control, '\n', (size_t)(end - control)))
        control = strstr(control + 1, "__gr");
    if (end)
        snprintf(m->control_name, sizeof m->control_name, "%.*s_control", (int)(end - control), control);
    stub_say("module %s control %s", strstr(m->image, "@gr") ? "rewritten" : "original", m->control_name);
    *out = (CUmodule)m;
    return CUDA_SUCCESS;
}

STUB_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *addr, size_t *size, CUmodule module,
                                          const char *name) {
    Module *m = (Module *)module;
    if (strcmp(name, m->control_name))
        return CUDA_ERROR_NOT_FOUND;
    *addr = (CUdeviceptr)(uintptr_t)&m->control;
    *size = sizeof m->control;
    return CUDA_SUCCESS;
}

STUB_EXPORT CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name) {
    Function *f = calloc(1, sizeof *f);
    f->module = (Module *)module;
    snprintf(f->name, sizeof f->name, "%s", name);
    *out = (CUfunction)f;
    return CUDA_SUCCESS;
}

static CUresult launch(const char *entry, CUfunction func) {
    Function *f = (Function *)func;
    const GrControl *c = &f->module->control;
    stub_say("%s %s", entry, f->name);
    now_us += 1 + 20 * (1 - c->shut / 4294967295.0);
    if (strncmp(f->name, "race", 4) || !c->slots)
        return strncmp(f->name, "bad", 3) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    GrSlot *s = (GrSlot *)(uintptr_t)c->slots + GR_CLASS_COUNT + GR_CLASS_LOST_UPDATE;
    s->count++;
    s->launch = 1;
    s->size = 4;
    s->expected[0] = 1;
    s->seen[0] = 2;
    s->state = GR_SLOT_READY;
    return CUDA_SUCCESS;
}

STUB_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                    unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params,
                                    void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)params,
        (void)extra;
    return launch("cuLaunchKernel", f);
}
STUB_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                         unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                         void **params, void **extra);
STUB_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                         unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                         void **params, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)params,
        (void)extra;
    return launch("cuLaunchKernel_ptsz", f);
}

STUB_EXPORT CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                                         CUdriverProcAddressQueryResult *found) {
    char symbol[80];
    const char *suffix = "";
    (void)found;
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && !strcmp(name, "cuLaunchKernel"))
        suffix = "_ptsz";
    else if (!strcmp(name, "cuModuleGetGlobal") || !strcmp(name, "cuMemcpyHtoD") ||
             !strcmp(name, "cuMemHostRegister") || !strcmp(name, "cuMemHostGetDevicePointer") ||
             !strcmp(name, "cuCtxPushCurrent") || !strcmp(name, "cuCtxPopCurrent") ||
             !strcmp(name, "cuDevicePrimaryCtxRelease") || !strcmp(name, "cuLinkCreate") ||
             !strcmp(name, "cuLinkAddData") || (!strcmp(name, "cuGetProcAddress") && version >= 12000))
        suffix = "_v2";
    else if (!strcmp(name, "cuCtxGetDevice") && version >= 13000)
        suffix = "_v2";
    snprintf(symbol, sizeof symbol, "%s%s", name, suffix);
    // Looked up in this library alone: the global scope would give the tool's own functions.
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    *out = self && *name ? dlsym(self, symbol) : NULL;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
