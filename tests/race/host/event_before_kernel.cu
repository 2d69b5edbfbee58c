// SPDX-License-Identifier: Apache-2.0
// The event is recorded before the kernel that it was to stand for is launched.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- an event covers what is before it in its stream
// FIXED: recorded after
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
    if (!fixed) filled.record(one);
    fill<<<2, 64, 0, one>>>(a);
    if (fixed) filled.record(one); // FIX
    filled.order(other);
    twice<<<2, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
