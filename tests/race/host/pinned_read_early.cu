// SPDX-License-Identifier: Apache-2.0
// The result is copied to pinned memory, and the host reads it without waiting for the copy.
// RACE 1: read-write race, global, can-overlap, with copy and host -- the copy has only been queued
// FIXED: waits
#include "host.h"

__global__ void fill(int *a) {
    a[threadIdx.x] = threadIdx.x + 1; // NEVER
}

static int test(bool fixed) {
    Buffer<int> a(32);
    Pinned result(32);
    Stream one;
    fill<<<1, 32, 0, one>>>(a);
    CHECK(cudaMemcpyAsync(result, a, 128, cudaMemcpyDeviceToHost, one));
    if (fixed) CHECK(cudaStreamSynchronize(one)); // FIX
    int wrong = 0;
    for (int i = 0; i < 32; i++) {
        wrong += result[i] != i + 1;
    }
    CHECK(cudaDeviceSynchronize());
    return wrong;
}

CORPUS_MAIN(test)
