// SPDX-License-Identifier: Apache-2.0
// A kernel still reads a buffer when a kernel in another stream fills it anew: the forgotten anti-dependence.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the reader is not waited for
// FIXED: an event after the reader
#include "host.h"

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // SIDE 1
}

__global__ void refill(int *a) {
    a[blockIdx.x * blockDim.x + threadIdx.x] = 7; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128), b(128);
    Stream one, other;
    Event read;
    twice<<<2, 64, 0, one>>>(a, b);
    read.record(one);
    if (fixed) read.order(other); // FIX
    refill<<<2, 64, 0, other>>>(a);
    return count_wrong(b.host(), [](int) { return 0; }) + count_wrong(a.host(), [](int) { return 7; });
}

CORPUS_MAIN(test)
