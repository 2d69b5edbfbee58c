// SPDX-License-Identifier: Apache-2.0
// run_bench — a CUDA program that runs the kernels of kernels.cu, for `gpurace run`: what an engine costs as users run
// it.
//
//     run_bench KERNELS.ptx KERNEL [--repeat N] [--output FILE]
//
// Uses the CUDA driver API alone. Only the kernels are timed, on the wall, from the launch until the context is idle;
// the best of N, after one that warms up. It prints what vm_bench prints, but for the number of instructions, which
// only the CPU device knows. The output of the last repetition goes to FILE.
#include "workload.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DRIVER(X)                                                                                            \
    X(cuInit, (unsigned))                                                                                    \
    X(cuDeviceGet, (CUdevice *, int))                                                                        \
    X(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                                     \
    X(cuCtxSetCurrent, (CUcontext))                                                                          \
    X(cuCtxSynchronize, (void))                                                                              \
    X(cuModuleLoad, (CUmodule *, const char *))                                                              \
    X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                                           \
    X(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                                \
    X(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                                                  \
    X(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                                                        \
    X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
                       CUstream, void **, void **))
static struct {
#define X(name, parameters) CUresult(*name) parameters;
    DRIVER(X)
#undef X
} d;

static void must(CUresult r, const char *what) {
    if (r == CUDA_SUCCESS)
        return;
    fprintf(stderr, "run_bench: %s: error %d\n", what, (int)r);
    exit(2);
}

static void find_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    bool found = library != NULL;
#define X(name, parameters) found = found && (*(void **)&d.name = dlsym(library, #name)) != NULL;
    DRIVER(X)
#undef X
    if (found)
        return;
    fprintf(stderr, "run_bench: no CUDA driver (libcuda.so.1)\n");
    exit(77);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct Buffers {
    CUdeviceptr at[WORK_BUFFERS];
    void *host[WORK_BUFFERS];
} Buffers;

static void fill(const Work *w, Buffers *b) {
    for (unsigned k = 0; k < WORK_BUFFERS; k++) {
        if (!w->bytes[k])
            continue;
        w->fill(w, k, b->host[k]);
        must(d.cuMemcpyHtoD_v2(b->at[k], b->host[k], w->bytes[k]), "a copy to the device");
    }
}

// The seconds of one launch.
static double launch(const Work *w, CUfunction f, Buffers *b, uint32_t level) {
    uint32_t word[WORK_ARGS];
    void *arg[WORK_ARGS];
    for (unsigned k = 0; k < WORK_ARGS; k++) {
        word[k] = w->arg[k].kind == WORK_LEVEL ? level : w->arg[k].value;
        arg[k] = w->arg[k].kind == WORK_BUFFER ? (void *)&b->at[w->arg[k].value] : (void *)&word[k];
    }
    double from = now();
    must(d.cuLaunchKernel(f, w->grid, 1, 1, w->block, 1, 1, 0, NULL, arg, NULL), w->name);
    must(d.cuCtxSynchronize(), w->name);
    return now() - from;
}

// The seconds of all launches of one repetition.
static double once(const Work *w, CUfunction f, Buffers *b) {
    double t = 0;
    uint32_t again, level = 0;
    do {
        again = 0;
        if (w->again >= 0)
            must(d.cuMemcpyHtoD_v2(b->at[w->again], &again, sizeof again), "a copy to the device");
        t += launch(w, f, b, level++);
        if (w->again >= 0)
            must(d.cuMemcpyDtoH_v2(&again, b->at[w->again], sizeof again), "a copy from the device");
    } while (again);
    return t;
}

static bool write_output(const char *path, const void *data, size_t bytes) {
    FILE *f = path ? fopen(path, "wb") : NULL;
    bool ok = !path || (f && fwrite(data, 1, bytes, f) == bytes);
    return (!f || fclose(f) == 0) && ok;
}

static bool time_kernel(const Work *w, CUmodule m, int repeat, const char *output) {
    CUfunction f;
    Buffers b = {.at = {0}};
    double best = 1e9;
    must(d.cuModuleGetFunction(&f, m, w->name), w->name);
    for (unsigned k = 0; k < WORK_BUFFERS; k++)
        if (w->bytes[k] && (b.host[k] = calloc(1, w->bytes[k])) != NULL)
            must(d.cuMemAlloc_v2(&b.at[k], w->bytes[k]), "memory");
    for (int n = 0; n < repeat + 1; n++) { // the first one warms up
        fill(w, &b);
        double t = once(w, f, &b);
        best = n && t < best ? t : best;
    }
    for (unsigned k = 0; k < WORK_BUFFERS; k++)
        if (w->bytes[k])
            must(d.cuMemcpyDtoH_v2(b.host[k], b.at[k], w->bytes[k]), "a copy from the device");
    bool right = w->check(w, b.host) && write_output(output, b.host[w->output], (size_t)w->out_words * 4);
    printf("%-8s %9.3f ms  %s\n", w->name, best * 1e3, right ? "right" : "WRONG");
    for (unsigned k = 0; k < WORK_BUFFERS; k++)
        free(b.host[k]);
    return right;
}

int main(int argc, char **argv) {
    int repeat = 1;
    const char *output = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: run_bench KERNELS.ptx KERNEL [--repeat N] [--output FILE]\n");
        return 2;
    }
    for (int k = 3; k + 1 < argc; k += 2) {
        if (!strcmp(argv[k], "--repeat"))
            repeat = atoi(argv[k + 1]);
        else if (!strcmp(argv[k], "--output"))
            output = argv[k + 1];
    }
    CUdevice device;
    CUcontext context;
    CUmodule m;
    find_driver();
    must(d.cuInit(0), "cuInit");
    must(d.cuDeviceGet(&device, 0), "a device");
    must(d.cuDevicePrimaryCtxRetain(&context, device), "a context");
    must(d.cuCtxSetCurrent(context), "a context");
    must(d.cuModuleLoad(&m, argv[1]), argv[1]);
    for (size_t k = 0; k < gr_n_work; k++)
        if (!strcmp(argv[2], gr_work[k].name))
            return time_kernel(&gr_work[k], m, repeat, output) ? 0 : 1;
    fprintf(stderr, "run_bench: no kernel %s\n", argv[2]);
    return 2;
}
