// SPDX-License-Identifier: Apache-2.0
// A kernel writes its result to mapped memory of the host, and the host reads it after waiting for another stream.
// RACE 1: read-write race, global, can-overlap, launch 1, with host -- the stream of the kernel has not been waited for
// FIXED: waits for the kernel's stream
#include "host.h"

__global__ void fill(int *a) {
    a[threadIdx.x] = threadIdx.x + 1; // SIDE 1
}

static int test(bool fixed) {
    Pinned a(32);
    Stream one, other;
    fill<<<1, 32, 0, one>>>(a);
    CHECK(cudaStreamSynchronize(fixed ? one : other)); // FIX
    int wrong = 0;
    for (int i = 0; i < 32; i++) {
        wrong += a[i] != i + 1;
    }
    CHECK(cudaDeviceSynchronize());
    return wrong;
}

CORPUS_MAIN(test)
