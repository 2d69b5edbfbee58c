// SPDX-License-Identifier: Apache-2.0
// The host waits for an event that stands before the last kernel of the stream.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the kernel comes after the event
// FIXED: an event behind the kernel
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
    Event event;
    CHECK(cudaMemsetAsync(a, 1, a.bytes(), one));
    event.record(one);
    fill<<<2, 64, 0, one>>>(a);
    if (fixed) event.record(one); // FIX
    CHECK(cudaEventSynchronize(event));
    twice<<<2, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
