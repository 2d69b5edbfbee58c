// SPDX-License-Identifier: Apache-2.0
// Loads a module, launches its kernel and unloads it, again and again; or launches one kernel all the time. Prints by
// how many KiB its resident memory grew after the first tenth.
//     endless_loads same|other|launches N
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k%d(.param .u64 p) {\n"
    ".reg .b32 %%r<4>; .reg .b64 %%rd<4>;\n"
    "ld.param.u64 %%rd1, [p]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd2, %%r1, 4;\n"
    "add.s64 %%rd3, %%rd1, %%rd2; ld.global.u32 %%r2, [%%rd3]; add.u32 %%r2, %%r2, 1;\n"
    "st.global.u32 [%%rd3], %%r2; ret; }\n";

static long resident(void) {
    long total = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &total, &pages) != 2)
        exit(1);
    fclose(f);
    return pages * 4;
}

static void check(CUresult r, const char *what) {
    if (r == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", what, (int)r);
    exit(1);
}

static CUfunction load(CUmodule *m, int which) {
    char ptx[1024], name[16];
    CUfunction f;
    snprintf(ptx, sizeof ptx, text, which);
    snprintf(name, sizeof name, "k%d", which);
    check(cuModuleLoadData(m, ptx), "cuModuleLoadData");
    check(cuModuleGetFunction(&f, *m, name), "cuModuleGetFunction");
    return f;
}

int main(int argc, char **argv) {
    int n = argc > 2 ? atoi(argv[2]) : 100, other = argc > 1 && !strcmp(argv[1], "other");
    int launches = argc > 1 && !strcmp(argv[1], "launches");
    long before = 0;
    CUdevice d;
    CUcontext c;
    CUdeviceptr p;
    CUmodule m;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&d, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&c, d), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(c), "cuCtxSetCurrent");
    check(cuMemAlloc(&p, 4096), "cuMemAlloc");
    void *args[] = {&p};
    CUfunction f = load(&m, 0);
    for (int k = 1; k <= n; k++) {
        if (!launches) {
            check(cuModuleUnload(m), "cuModuleUnload");
            f = load(&m, other ? k : 0);
        }
        check(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL), "cuLaunchKernel");
        if (!launches)
            check(cuCtxSynchronize(), "cuCtxSynchronize");
        if (k == n / 10)
            before = resident();
    }
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    printf("%ld\n", resident() - before);
}
