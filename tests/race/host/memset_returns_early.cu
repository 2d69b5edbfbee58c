// SPDX-License-Identifier: Apache-2.0
// cudaMemset does not wait for the device: a kernel in a non-blocking stream may come before it.
// RACE 1: write-write race, global, can-overlap, launch 1, with memset -- the memset belongs to the legacy stream
// FIXED: synchronizes
#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128);
    Stream one;
    CHECK(cudaMemset(a, 0xff, a.bytes()));
    if (fixed) CHECK(cudaDeviceSynchronize()); // FIX
    fill<<<2, 64, 0, one>>>(a);
    return count_wrong(a.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
