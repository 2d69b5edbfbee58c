// SPDX-License-Identifier: Apache-2.0
// gpu_bench — times the kernels of kernels.cu on a GPU, in several rewritings side by side.
//
//     gpu_bench ROUNDS FILE…     each FILE: kernels.ptx (or a cubin of it), as it is or rewritten by `gpurace ptx`
//
// Kernel times by events, medians of the rounds after one that warms up; in every round all kernels of all files run once, in turn. Ratios are to the first
// file. A rewritten module is given a record area, as gpurace would; the kernels have no races, so it must stay empty. bench/gpu.sh makes the files.
#include "engines/collider/device/record.h"

#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 1 << 24, SIDE = 1024, BODIES = 1 << 14, THREADS = 256, KERNELS = 7, SLOT_BYTES = 1 << 20 };
static const char *const kernels[KERNELS] = {"saxpy", "matmul", "reduce", "hist",
                                             "nbody", "touch4", "collatz"};

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
    CUfunction f;
    int n = k == 1 ? SIDE : k == 4 ? BODIES : k == 6 ? 1 << 20 : ELEMENTS;
    float a = 2, ms;
    unsigned grid = (unsigned)(k == 1 ? SIDE * SIDE / THREADS : k == 3 ? 1024 : n / THREADS);
    void *parameters[KERNELS][4] = {{&n, &a, &in, &x}, {&in, &x, &out, &n}, {&in, &out, &n},
                                    {&in, &out, &n},   {&in, &out, &n},     {&x, &n},
                                    {&out, &n}};
    must(d.cuModuleGetFunction(&f, m, kernels[k]), kernels[k]);
    must(d.cuCtxSynchronize(), "synchronize");
    must(d.cuEventRecord(before, NULL), "event");
    must(d.cuLaunchKernel(f, grid, 1, 1, THREADS, 1, 1, 0, NULL, parameters[k], NULL), kernels[k]);
    must(d.cuEventRecord(after, NULL), "event");
    must(d.cuEventSynchronize(after), kernels[k]);
    must(d.cuEventElapsedTime(&ms, before, after), "time");
    return ms;
}

static int by_size(const void *a, const void *b) {
    float p = *(const float *)a, q = *(const float *)b;
    return (p > q) - (p < q);
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
    CUmodule *modules = calloc((size_t)files, sizeof(CUmodule));
    if (!data || !ms || !modules)
        return 2;
    for (int k = 0; k < ELEMENTS; k++)
        data[k] = (float)(k % 1000) / 1000;
    must(d.cuMemcpyHtoD_v2(in, data, bytes), "copy");
    must(d.cuMemcpyHtoD_v2(x, data, bytes), "copy");
    for (int f = 0; f < files; f++) {
        CUdeviceptr at;
        size_t size;
        GrControl control = {.slots = slots, .n_sites = 200};
        must(d.cuModuleLoad(&modules[f], argv[f + 2]), argv[f + 2]);
        if (d.cuModuleGetGlobal_v2(&at, &size, modules[f], "__gr_control") == CUDA_SUCCESS)
            must(d.cuMemcpyHtoD_v2(at, &control, sizeof control), "control");
    }
    for (int r = -1; r < rounds; r++)
        for (int f = 0; f < files; f++)
            for (int k = 0; k < KERNELS; k++) {
                must(d.cuMemsetD32_v2(out, 0, ELEMENTS), "memset");
                float t = run(modules[f], k, before, after);
                if (r >= 0)
                    ms[(f * KERNELS + k) * rounds + r] = t;
            }
    printf("| ms |");
    for (int k = 0; k < KERNELS; k++)
        printf(" %s |", kernels[k]);
    printf(" geometric mean of the ratios |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int f = 0; f < files; f++) {
        double product = 0;
        const char *name = strrchr(argv[f + 2], '/');
        printf("| %s |", name ? name + 1 : argv[f + 2]);
        for (int k = 0; k < KERNELS; k++) {
            float *t = ms + (f * KERNELS + k) * rounds;
            qsort(t, (size_t)rounds, sizeof *t, by_size);
            product += log((double)t[rounds / 2] / (double)ms[k * rounds + rounds / 2]);
            printf(" %.3f |", (double)t[rounds / 2]);
        }
        printf(" %.2f |\n", exp(product / KERNELS));
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
