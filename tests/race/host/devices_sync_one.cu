// SPDX-License-Identifier: Apache-2.0
// cudaDeviceSynchronize waits for the current device, and that is the wrong one.
// DEVICES: 2
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the first device was not waited for
// FIXED: waits for it before it turns to the other
#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
}

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128);
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    Buffer<int> b(128);
    CHECK(cudaSetDevice(0));
    fill<<<2, 64>>>(a);
    if (fixed) CHECK(cudaDeviceSynchronize()); // FIX
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceSynchronize());
    twice<<<2, 64>>>(a, b);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(1));
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
