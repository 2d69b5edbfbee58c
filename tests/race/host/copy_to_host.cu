// SPDX-License-Identifier: Apache-2.0
// A result is copied to the host in a stream of its own while the kernel that computes it runs.
// RACE 1: read-write race, global, can-overlap, launch 1, with copy -- the copy does not wait for the kernel's stream
// FIXED: an event
#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128);
    Pinned result(128);
    Stream one, copies;
    Event filled;
    fill<<<2, 64, 0, one>>>(a);
    filled.record(one);
    if (fixed) filled.order(copies); // FIX
    CHECK(cudaMemcpyAsync(result, a, a.bytes(), cudaMemcpyDeviceToHost, copies));
    CHECK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 128; i++) {
        wrong += result[i] != i + 1;
    }
    return wrong;
}

CORPUS_MAIN(test)
