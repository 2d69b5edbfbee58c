// SPDX-License-Identifier: Apache-2.0
// CPU-GPU UVM RW (SuperCollider, table 3): the CPU reads managed memory before the GPU's kernel completes.
// RACE 1: read-write race, global, can-overlap, with host -- the host has not waited for the kernel
// FIXED: cudaDeviceSynchronize before reading
#include "../corpus.h"

template <bool FIXED> __global__ void produce(int *data) {
    data[threadIdx.x] = threadIdx.x + 1; // SIDE 1
}

static int test(bool fixed) {
    int *data, wrong = 0;
    CHECK(cudaMallocManaged(&data, 64 * sizeof *data));
    LAUNCH_ASYNC(produce, 1, 64, 0, 0, data);
    if (fixed) CHECK(cudaDeviceSynchronize()); // FIX
    for (int i = 0; i < 64; i++) {
        wrong += data[i] != i + 1;
    }
    CHECK(cudaDeviceSynchronize());
    return wrong;
}

CORPUS_MAIN(test)
