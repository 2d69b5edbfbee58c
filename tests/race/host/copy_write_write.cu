// SPDX-License-Identifier: Apache-2.0
// A kernel and a copy both write to a buffer, in two streams.
// RACE 1: write-write race, global, can-overlap, launch 1, with copy -- what is left is a matter of luck
// FIXED: one stream
#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128);
    Pinned from(128, 50);
    Stream one, other;
    CHECK(cudaMemcpyAsync(a, from, a.bytes(), cudaMemcpyHostToDevice, one));
    fill<<<2, 64, 0, fixed ? one : other>>>(a); // FIX
    return count_wrong(a.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
