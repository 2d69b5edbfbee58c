// SPDX-License-Identifier: Apache-2.0
// A __device__ variable is set with cudaMemcpyToSymbolAsync while a kernel in another stream reads it.
// RACE 1: read-write race, global, can-overlap, launch 1, with copy -- the copy is in another stream
// FIXED: the kernel's stream
#include "host.h"

__device__ int factor;

__global__ void scale(int *a) {
    a[threadIdx.x] = factor * threadIdx.x; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(64);
    Pinned value(1, 3);
    Stream one, other;
    CHECK(cudaMemcpyToSymbolAsync(factor, value, sizeof(int), 0, cudaMemcpyHostToDevice, fixed ? one : other)); // FIX
    scale<<<1, 64, 0, one>>>(a);
    return count_wrong(a.host(), [](int i) { return 3 * i; });
}

CORPUS_MAIN(test)
