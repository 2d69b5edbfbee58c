// SPDX-License-Identifier: Apache-2.0
// Loads the PTX of argv[1] and launches its kernel k(u64), a block of 64 threads, argv[2] times, with a pause of
// argv[3] milliseconds after each.
#include "../../check.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction k;
    CUdeviceptr p;
    CHECK_DRIVER(cuInit(0));
    CHECK_DRIVER(cuDeviceGet(&device, 0));
    CHECK_DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    CHECK_DRIVER(cuCtxSetCurrent(context));
    CHECK_DRIVER(cuModuleLoad(&module, argv[1]));
    CHECK_DRIVER(cuModuleGetFunction(&k, module, "k"));
    CHECK_DRIVER(cuMemAlloc(&p, 1 << 16));
    for (int n = argc > 2 ? atoi(argv[2]) : 1; n-- > 0;) {
        void *args[] = {&p};
        CHECK_DRIVER(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
        CHECK_DRIVER(cuCtxSynchronize());
        usleep(argc > 3 ? (unsigned)atoi(argv[3]) * 1000 : 0);
    }
    return 0;
}
