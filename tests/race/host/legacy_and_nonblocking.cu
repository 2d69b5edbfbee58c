// SPDX-License-Identifier: Apache-2.0
// A kernel in the legacy default stream and one in a stream that was created non-blocking: those do not wait for each other.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- cudaStreamNonBlocking is just that
// FIXED: a blocking stream, which waits for the legacy stream
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
    Stream other(fixed ? cudaStreamDefault : cudaStreamNonBlocking); // FIX
    fill<<<2, 64>>>(a);
    twice<<<2, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
