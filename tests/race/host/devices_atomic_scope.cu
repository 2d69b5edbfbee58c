// SPDX-License-Identifier: Apache-2.0
// Kernels of two devices count in one place, with atomics of the device's scope.
// DEVICES: 2
// RACE 1: insufficient scope, global, can-overlap, launches 1 and 2, scope gpu -- the other device is outside of it
// FIXED: atomics of the system's scope
#include "host.h"

template <bool FIXED> __global__ void count(int *bins) {
    if constexpr (FIXED) {
        atomicAdd_system(&bins[threadIdx.x % 4], 1); // FIX
    } else {
        atomicAdd(&bins[threadIdx.x % 4], 1); // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> bins(4);
    LAUNCH_ASYNC(count, 1, 64, 0, 0, bins);
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    LAUNCH_ASYNC(count, 1, 64, 0, 0, bins);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    return count_wrong(bins.host(), [](int) { return 32; });
}

CORPUS_MAIN(test)
