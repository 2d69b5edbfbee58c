// SPDX-License-Identifier: Apache-2.0
// Inter-GPU UVM WW (SuperCollider, table 3): two GPUs write to the same addresses of managed memory.
// RACE 1: write-write race, global, can-overlap, launches 1 and 2 -- launches on two devices, and nothing between them
// FIXED: the host waits for the first device before it launches on the second
// DEVICES: 2
#include "../corpus.h"

template <bool FIXED> __global__ void fill(int *data, int value) {
    data[threadIdx.x] = value; // SIDE 1
}

static int test(bool fixed) {
    int *data, wrong = 0;
    CHECK(cudaMallocManaged(&data, 64 * sizeof *data));
    LAUNCH_ASYNC(fill, 1, 64, 0, 0, data, 1);
    if (fixed) CHECK(cudaDeviceSynchronize()); // FIX
    CHECK(cudaSetDevice(1));
    LAUNCH_ASYNC(fill, 1, 64, 0, 0, data, 2);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        wrong += data[i] != 2;
    }
    return wrong;
}

CORPUS_MAIN(test)
