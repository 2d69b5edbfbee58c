// SPDX-License-Identifier: Apache-2.0
// Kernels of two devices store to one piece of managed memory, many times.
// DEVICES: 2
// RACE 1: write-write race, global, can-overlap, launches 1 and 2 -- two devices are two streams
// FIXED: the second kernel waits for an event of the first device
#include "../../race/host/host.h"

__global__ void stores(int *a, int mark) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int turn = 0; turn < 20; turn++) {
        a[i] = mark + turn; // SIDE 1
        asm volatile("" ::: "memory");
    }
}

static int test(bool fixed) {
    int *a, wrong = 0;
    CHECK(cudaMallocManaged(&a, 128 * sizeof *a));
    Stream one;
    Event done;
    CHECK(cudaSetDevice(1));
    Stream other;
    CHECK(cudaSetDevice(0));
    stores<<<2, 64, 0, one>>>(a, 100);
    done.record(one);
    CHECK(cudaSetDevice(1));
    if (fixed) done.order(other); // FIX
    stores<<<2, 64, 0, other>>>(a, 200);
    for (int device = 0; device < 2; device++) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaDeviceSynchronize());
    }
    for (int i = 0; i < 128; i++) {
        wrong += a[i] != 219;
    }
    CHECK(cudaFree(a));
    return wrong;
}

CORPUS_MAIN(test)
