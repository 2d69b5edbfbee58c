// SPDX-License-Identifier: Apache-2.0
// cudaMemcpyPeerAsync in a stream of the receiving device does not wait for the sender's kernel.
// DEVICES: 2
// RACE 1: read-write race, global, can-overlap, launch 1, with copy -- it belongs to its stream alone
// FIXED: an event
#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128);
    Stream one;
    Event filled;
    CHECK(cudaSetDevice(1));
    Buffer<int> b(128);
    Stream other;
    CHECK(cudaSetDevice(0));
    fill<<<2, 64, 0, one>>>(a);
    filled.record(one);
    CHECK(cudaSetDevice(1));
    if (fixed) filled.order(other); // FIX
    CHECK(cudaMemcpyPeerAsync(b, 1, a, 0, a.bytes(), other));
    return count_wrong(b.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
