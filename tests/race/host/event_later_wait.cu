// SPDX-License-Identifier: Apache-2.0
// An event that is recorded again after somebody began to wait for it: the wait is for the record at the time of the call.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the fill of the second record is not covered by the wait before it
// FIXED: waits again
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
    Buffer<int> a(128), b(128), c(128);
    Stream one, other;
    Event done;
    CHECK(cudaMemsetAsync(c, 1, c.bytes(), one));
    done.record(one);
    done.order(other);
    fill<<<2, 64, 0, one>>>(a);
    done.record(one);
    if (fixed) done.order(other); // FIX
    twice<<<2, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
