// SPDX-License-Identifier: Apache-2.0
// Loads the PTX of argv[1] and launches its kernel k(u64), a block of 64 threads, argv[2] times, with a pause of argv[3] milliseconds after each.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TRY(x)                                                                                               \
    if ((x) != CUDA_SUCCESS) {                                                                               \
        fprintf(stderr, "failed: %s\n", #x);                                                                 \
        return 1;                                                                                            \
    }

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction k;
    CUdeviceptr p;
    TRY(cuInit(0));
    TRY(cuDeviceGet(&device, 0));
    TRY(cuDevicePrimaryCtxRetain(&context, device));
    TRY(cuCtxSetCurrent(context));
    TRY(cuModuleLoad(&module, argv[1]));
    TRY(cuModuleGetFunction(&k, module, "k"));
    TRY(cuMemAlloc(&p, 1 << 16));
    for (int n = argc > 2 ? atoi(argv[2]) : 1; n-- > 0;) {
        void *args[] = {&p};
        TRY(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
        TRY(cuCtxSynchronize());
        usleep(argc > 3 ? (unsigned)atoi(argv[3]) * 1000 : 0);
    }
    return 0;
}
