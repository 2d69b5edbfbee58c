// SPDX-License-Identifier: Apache-2.0
// An event is used for two things: its second record, in another stream, takes the place of the first before anybody waits.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the wait is for the last record only
// FIXED: an event for each
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
    Stream one, other, third;
    Event first, second;
    fill<<<2, 64, 0, one>>>(a);
    first.record(one);
    CHECK(cudaMemsetAsync(c, 1, c.bytes(), third));
    (fixed ? second : first).record(third); // FIX
    first.order(other);
    twice<<<2, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
