// SPDX-License-Identifier: Apache-2.0
// Two devices count in managed memory with atomics of the device's scope (iGUARD leaves the system's scope out; CUDA programming guide,
// atomicAdd_system()).
// DEVICES: 2
// RACE 1: insufficient scope, global, can-overlap, scope gpu, launches 1 and 2 -- each device is atomic for itself
// FIXED: atomicAdd_system()
#include "../corpus.h"

template <bool FIXED> __global__ void count(int *counter)
{
    if constexpr (FIXED)
        atomicAdd_system(counter, 1); // FIX
    else
        atomicAdd(counter, 1); // SIDE 1
}

static int test(bool fixed)
{
    int *counter;
    CHECK(cudaMallocManaged(&counter, sizeof *counter));
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    CHECK(cudaDeviceSynchronize());
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        LAUNCH_ASYNC(count, 2, 32, 0, 0, counter);
    }
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
    int wrong = *counter != 128;
    CHECK(cudaFree(counter));
    return wrong;
}

CORPUS_MAIN(test)
