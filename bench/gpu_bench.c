// SPDX-License-Identifier: Apache-2.0
// gpu_bench — times the kernels of kernels.cu on a GPU, in several rewritings side by side.
//
//     gpu_bench ROUNDS FILE[@SHUT|#KERNEL]…     each FILE: kernels.ptx, or a cubin of it, as it is or rewritten;
//                                               with `--budget`, what share of its windows stays shut; only this kernel
//                                               of it
//
// Kernel times by events, geometric means of the rounds after one that warms up; in every round all kernels of all
// files run once, in turn, each as in a first launch. A line of text for each file: its name and the milliseconds of
// each kernel. A rewritten module is given a record area, as gpurace would; the kernels have no races, so it must stay
// empty. bench/gpu.py makes the files and the tables. Under `gpurace run` one plain file shows what the tool does to
// it.
#include "engines/collider/device/record.h"

#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 1 << 24, SIDE = 1024, THREADS = 256, SLOT_BYTES = 1 << 20, TABLES = 1056 };

// One of kernels.cu; its parameters, as letters: n elements, f a factor, i o x the buffers. `blocks` 0: a thread for
// each element.
static const struct Kernel {
    const char *name, *parameters;
    int n;
    unsigned blocks;
} kernels[] = {
    {"saxpy", "nfix", ELEMENTS, 0},     {"matmul", "ixon", SIDE, SIDE *SIDE / THREADS},
    {"reduce", "ion", ELEMENTS, 0},     {"hist", "ion", ELEMENTS, 1024},
    {"nbody", "ion", 1 << 14, 0},       {"touch4", "xn", ELEMENTS, 0},
    {"collatz", "on", 1 << 20, 0},      {"table", "ion", ELEMENTS, TABLES},
    {"chase", "ion", ELEMENTS, TABLES}, {"relax", "ion", ELEMENTS, TABLES},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

#define DRIVER(X)                                                                                            \
    X(cuInit, (unsigned))                                                                                    \
    X(cuDeviceGet, (CUdevice *, int))                                                                        \
    X(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                                     \
    X(cuCtxSetCurrent, (CUcontext))                                                                          \
    X(cuCtxSynchronize, (void))                                                                              \
    X(cuModuleLoad, (CUmodule *, const char *))                                                              \
    X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                                           \
    X(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *))                               \
    X(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                                \
    X(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t))                                                       \
    X(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                                                  \
    X(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                                                        \
    X(cuEventCreate, (CUevent *, unsigned))                                                                  \
    X(cuEventRecord, (CUevent, CUstream))                                                                    \
    X(cuEventSynchronize, (CUevent))                                                                         \
    X(cuEventElapsedTime, (float *, CUevent, CUevent))                                                       \
    X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
                       CUstream, void **, void **))
static struct {
#define X(name, parameters) CUresult(*name) parameters;
    DRIVER(X)
#undef X
} d;

static void must(CUresult r, const char *what) {
    if (r != CUDA_SUCCESS) {
        fprintf(stderr, "gpu_bench: %s: error %d\n", what, (int)r);
        exit(2);
    }
}

static void *symbol(void *library, const char *name) {
    void *p = library ? dlsym(library, name) : NULL;
    if (!p) {
        fprintf(stderr, "gpu_bench: no %s in libcuda.so.1\n", name);
        exit(77);
    }
    return p;
}

static CUdeviceptr in, out, x, slots;

static float run(CUmodule m, int k, CUevent before, CUevent after) {
    const struct Kernel *kernel = &kernels[k];
    CUfunction f;
    int n = kernel->n;
    float a = 2, ms;
    void *parameters[8];
    for (int p = 0; kernel->parameters[p]; p++)
        switch (kernel->parameters[p]) {
        case 'n': parameters[p] = &n; break;
        case 'f': parameters[p] = &a; break;
        case 'i': parameters[p] = &in; break;
        case 'o': parameters[p] = &out; break;
        default: parameters[p] = &x; break;
        }
    must(d.cuModuleGetFunction(&f, m, kernel->name), kernel->name);
    must(d.cuCtxSynchronize(), "synchronize");
    must(d.cuEventRecord(before, NULL), "event");
    must(d.cuLaunchKernel(f, kernel->blocks ? kernel->blocks : (unsigned)(n / THREADS), 1, 1, THREADS, 1, 1,
                          0, NULL, parameters, NULL),
         kernel->name);
    must(d.cuEventRecord(after, NULL), "event");
    must(d.cuEventSynchronize(after), kernel->name);
    must(d.cuEventElapsedTime(&ms, before, after), "time");
    return ms;
}

static double geometric_mean(const float *ms, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += log((double)ms[k]);
    return exp(sum / n);
}

typedef struct File {
    CUmodule module;
    const char *name;
    const char *only; // this kernel; "": all
    CUdeviceptr at;   // of its control; 0: it has none
    GrControl control;
} File;

static void load(File *f, char *word) {
    size_t size;
    f->control = (GrControl){.slots = slots, .n_sites = 200};
    char *shut = strchr(word, '@'), *only = strchr(word, '#');
    if (shut) {
        *shut = 0;
        f->control.shut = (uint32_t)(atof(shut + 1) * UINT32_MAX);
    } else if (only) {
        *only = 0;
    }
    must(d.cuModuleLoad(&f->module, word), word);
    f->name = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
    f->only = only ? only + 1 : "";
    if (d.cuModuleGetGlobal_v2(&f->at, &size, f->module, "__gr_control") != CUDA_SUCCESS)
        f->at = 0;
}

// The beginning of what the kernel wrote is the same in all files.
static void compare(int f, int k, const char *name) {
    enum { WORDS = 1 << 18 };
    static uint32_t first[KERNELS][WORDS], now[WORDS];
    must(d.cuMemcpyDtoH_v2(f ? now : first[k], out, sizeof now), "copy");
    if (f && memcmp(now, first[k], sizeof now) != 0) {
        fprintf(stderr, "gpu_bench: %s of %s computes something else\n", kernels[k].name, name);
        exit(1);
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 2 ? atoi(argv[1]) : 0, files = argc - 2;
    if (rounds < 1) {
        fprintf(stderr, "usage: gpu_bench ROUNDS FILE...\n");
        return 2;
    }
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
#define X(name, parameters) *(void **)&d.name = symbol(library, #name);
    DRIVER(X)
#undef X
    CUdevice device;
    CUcontext context;
    CUevent before, after;
    must(d.cuInit(0), "cuInit");
    must(d.cuDeviceGet(&device, 0), "device");
    must(d.cuDevicePrimaryCtxRetain(&context, device), "context");
    must(d.cuCtxSetCurrent(context), "context");
    must(d.cuEventCreate(&before, 0), "event");
    must(d.cuEventCreate(&after, 0), "event");
    size_t bytes = (size_t)ELEMENTS * 4;
    CUdeviceptr *const buffers[] = {&in, &out, &x};
    for (int k = 0; k < 3; k++)
        must(d.cuMemAlloc_v2(buffers[k], bytes), "memory");
    must(d.cuMemAlloc_v2(&slots, SLOT_BYTES), "memory");
    must(d.cuMemsetD32_v2(slots, 0, SLOT_BYTES / 4), "memset");
    float *data = malloc(bytes), *ms = calloc((size_t)files * KERNELS * (size_t)rounds, sizeof *ms);
    File *of = calloc((size_t)files, sizeof *of);
    if (!data || !ms || !of)
        return 2;
    for (int k = 0; k < ELEMENTS; k++)
        data[k] = (float)(k % 1000) / 1000;
    must(d.cuMemcpyHtoD_v2(in, data, bytes), "copy");
    for (int f = 0; f < files; f++)
        load(&of[f], argv[f + 2]);
    for (int r = -1; r < rounds; r++)
        for (int f = 0; f < files; f++)
            for (int k = 0; k < KERNELS; k++) {
                if (*of[f].only && strcmp(of[f].only, kernels[k].name) != 0)
                    continue;
                must(d.cuMemsetD32_v2(out, 0, ELEMENTS), "memset");
                if (r < 0 && strchr(kernels[k].parameters, 'x'))
                    must(d.cuMemcpyHtoD_v2(x, data, bytes), "copy");
                if (of[f].at)
                    must(d.cuMemcpyHtoD_v2(of[f].at, &of[f].control, sizeof of[f].control), "control");
                float t = run(of[f].module, k, before, after);
                if (r >= 0)
                    ms[(f * KERNELS + k) * rounds + r] = t;
                else
                    compare(f, k, of[f].name);
            }
    for (int f = 0; f < files; f++) {
        printf("%s", of[f].name);
        for (int k = 0; k < KERNELS; k++) {
            const float *t = ms + (f * KERNELS + k) * rounds;
            if (*t > 0)
                printf(" %s=%.4f", kernels[k].name, geometric_mean(t, rounds));
        }
        printf("\n");
    }
    static uint64_t seen[SLOT_BYTES / 8];
    must(d.cuMemcpyDtoH_v2(seen, slots, SLOT_BYTES), "copy");
    for (size_t k = 0; k < SLOT_BYTES / 8; k++)
        if (seen[k]) {
            fprintf(stderr, "gpu_bench: a race was reported\n");
            return 1;
        }
    return 0;
}
