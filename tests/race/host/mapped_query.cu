// SPDX-License-Identifier: Apache-2.0
// The host polls an event and reads what the kernel wrote to mapped memory; in the racy variant it does so whatever the answer was.
// RACE 1: read-write race, global, can-overlap, launch 1, with host -- "not ready" orders nothing
// FIXED: polls until the event has come
#include "host.h"

__global__ void fill(int *a) {
    a[threadIdx.x] = threadIdx.x + 1; // SIDE 1
}

static int test(bool fixed) {
    Pinned a(32);
    Stream one;
    Event filled;
    fill<<<1, 32, 0, one>>>(a);
    filled.record(one);
    while (cudaEventQuery(filled) == cudaErrorNotReady && fixed) { // FIX
    }
    int wrong = 0;
    for (int i = 0; i < 32; i++) {
        wrong += a[i] != i + 1;
    }
    CHECK(cudaDeviceSynchronize());
    return wrong;
}

CORPUS_MAIN(test)
