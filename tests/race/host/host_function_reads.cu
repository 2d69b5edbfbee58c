// SPDX-License-Identifier: Apache-2.0
// A host function sums up what the kernel before it in the stream wrote to mapped memory.
// CLEAN -- host functions run in stream order
#include "host.h"

__global__ void fill(int *a) {
    a[threadIdx.x] = threadIdx.x + 1; // NEVER
}

static int total;

static void sum(void *data) {
    for (int i = 0; i < 32; i++) {
        total += ((int *)data)[i];
    }
}

static int test(bool) {
    Pinned a(32);
    Stream one;
    fill<<<1, 32, 0, one>>>(a);
    CHECK(cudaLaunchHostFunc(one, sum, a));
    CHECK(cudaStreamSynchronize(one));
    return total != 33 * 16;
}

CORPUS_MAIN(test)
