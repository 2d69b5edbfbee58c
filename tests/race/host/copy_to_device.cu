// SPDX-License-Identifier: Apache-2.0
// The next input is copied to the device while the kernel still reads the last one.
// RACE 1: read-write race, global, can-overlap, launch 1, with copy -- nothing makes the copy wait until the kernel has read
// FIXED: an event
#include "host.h"

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128), b(128);
    Pinned next(128, 1000);
    Stream one, copies;
    Event read;
    twice<<<2, 64, 0, one>>>(a, b);
    read.record(one);
    if (fixed) read.order(copies); // FIX
    CHECK(cudaMemcpyAsync(a, next, a.bytes(), cudaMemcpyHostToDevice, copies));
    return count_wrong(b.host(), [](int) { return 0; }) + count_wrong(a.host(), [](int i) { return 1000 + i; });
}

CORPUS_MAIN(test)
