// SPDX-License-Identifier: Apache-2.0
// A kernel of one device reads what a kernel of the other writes, through peer access.
// DEVICES: 2
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- two devices are two streams
// FIXED: an event, which works across devices
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
    Stream one;
    Event filled;
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    Buffer<int> b(128);
    Stream other;
    CHECK(cudaSetDevice(0));
    fill<<<2, 64, 0, one>>>(a);
    filled.record(one);
    CHECK(cudaSetDevice(1));
    if (fixed) filled.order(other); // FIX
    twice<<<2, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
