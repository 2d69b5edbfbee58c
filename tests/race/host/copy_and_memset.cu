// SPDX-License-Identifier: Apache-2.0
// A buffer is cleared in one stream and filled by a copy in another: no kernel, and a race all the same.
// RACE 1: write-write race, global, can-overlap, with copy and memset -- nothing orders the two streams
// FIXED: an event
#include "host.h"

__global__ void twice(int *a) {
    a[threadIdx.x] *= 2; // NEVER
}

static int test(bool fixed) {
    Buffer<int> a(64, 1);
    Pinned from(64, 1);
    Stream one, other;
    Event cleared;
    CHECK(cudaMemsetAsync(a, 0, a.bytes(), one));
    cleared.record(one);
    if (fixed) cleared.order(other); // FIX
    CHECK(cudaMemcpyAsync(a, from, a.bytes(), cudaMemcpyHostToDevice, other));
    CHECK(cudaDeviceSynchronize());
    twice<<<1, 64, 0, other>>>(a);
    return count_wrong(a.host(), [](int i) { return 2 * (i + 1); });
}

CORPUS_MAIN(test)
