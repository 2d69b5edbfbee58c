// SPDX-License-Identifier: Apache-2.0
// The host waits for a stream, but not for the one in which the kernel is.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the host knows nothing of the first stream when it launches the reader
// FIXED: waits for the right one
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
    Stream one, other;
    fill<<<2, 64, 0, one>>>(a);
    CHECK(cudaStreamSynchronize(fixed ? one : other)); // FIX
    twice<<<2, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
