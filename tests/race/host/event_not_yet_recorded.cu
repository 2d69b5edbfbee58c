// SPDX-License-Identifier: Apache-2.0
// cudaStreamWaitEvent before the event is recorded: an event that was never recorded is waited for by nobody.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the wait is for the record that there is at the call
// FIXED: records first
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
    Event filled;
    if (!fixed) filled.order(other);
    fill<<<2, 64, 0, one>>>(a);
    filled.record(one);
    if (fixed) filled.order(other); // FIX
    twice<<<2, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
