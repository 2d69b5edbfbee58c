// SPDX-License-Identifier: Apache-2.0
// A host function in one stream writes the input of a kernel in another.
// RACE 1: read-write race, global, can-overlap, launch 2, with host -- the kernel's stream does not wait for the host function
// FIXED: an event behind the host function
#include "host.h"

__global__ void twice(const int *a, int *b) {
    b[threadIdx.x] = 2 * a[31 - threadIdx.x]; // SIDE 1
}

// Something to do before, so that the host function does not run at once.
__global__ void delay(int *c) {
    int v = c[threadIdx.x];
    for (int k = 0; k < 3000; k++) {
        v = v * 5 + k;
    }
    c[threadIdx.x] = v;
}

static void prepare(void *data) {
    for (int i = 0; i < 32; i++) {
        ((int *)data)[i] = i + 1;
    }
}

static int test(bool fixed) {
    Buffer<int> b(32), c(32);
    Pinned a(32);
    Stream one, other;
    Event prepared;
    delay<<<1, 32, 0, one>>>(c);
    CHECK(cudaLaunchHostFunc(one, prepare, a));
    prepared.record(one);
    if (fixed) prepared.order(other); // FIX
    twice<<<1, 32, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (32 - i); });
}

CORPUS_MAIN(test)
