// SPDX-License-Identifier: Apache-2.0
// Two blocking streams: "blocking" is towards the legacy stream, not among each other.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- nothing orders the two
// FIXED: the second kernel goes into the legacy stream
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
    Buffer<int> a(128), b(128);
    Stream one(cudaStreamDefault), other(cudaStreamDefault);
    fill<<<2, 64, 0, one>>>(a);
    twice<<<2, 64, 0, fixed ? cudaStreamLegacy : other>>>(a, b); // FIX
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
