// SPDX-License-Identifier: Apache-2.0
// CPU-GPU UVM WW (SuperCollider, table 3): CPU and GPU write to the same addresses of managed memory.
// RACE 1: write-write race, global, can-overlap, with host -- the host stores while the kernel may still store
// FIXED: cudaDeviceSynchronize before the host's stores
#include "../corpus.h"

template <bool FIXED> __global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x + 1; // SIDE 1
}

static int test(bool fixed) {
    int *data, wrong = 0;
    CHECK(cudaMallocManaged(&data, 64 * sizeof *data));
    LAUNCH_ASYNC(fill, 1, 64, 0, 0, data);
    if (fixed) CHECK(cudaDeviceSynchronize()); // FIX
    for (int i = 0; i < 64; i += 2) {
        data[i] = -5;
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        wrong += data[i] != (i % 2 ? i + 1 : -5);
    }
    return wrong;
}

CORPUS_MAIN(test)
