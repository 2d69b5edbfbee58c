// SPDX-License-Identifier: Apache-2.0
// The host prepares the next launch's parameters in mapped memory that the last launch may still read.
// RACE 1: read-write race, global, can-overlap, launch 1, with host -- nothing waits for the first launch
// FIXED: waits before it writes
#include "host.h"

__global__ void scale(const int *factor, int *a) {
    a[threadIdx.x] += *factor; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(32);
    Pinned factor(1, 3);
    Stream one;
    scale<<<1, 32, 0, one>>>(factor, a);
    if (fixed) CHECK(cudaStreamSynchronize(one)); // FIX
    *factor = 4;
    scale<<<1, 32, 0, one>>>(factor, a); // NEVER
    return count_wrong(a.host(), [](int) { return 7; });
}

CORPUS_MAIN(test)
