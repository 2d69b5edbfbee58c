// SPDX-License-Identifier: Apache-2.0
// Managed memory whose first half belongs to the kernel and whose second half to the host, in one page.
// CLEAN -- no byte is touched by both
#include "host.h"

__global__ void fill(int *a) {
    a[threadIdx.x] = threadIdx.x; // NEVER
}

static int test(bool) {
    int *a, wrong = 0;
    CHECK(cudaMallocManaged(&a, 64 * sizeof *a));
    fill<<<1, 32>>>(a);
    for (int i = 32; i < 64; i++) {
        a[i] = i;
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        wrong += a[i] != i;
    }
    CHECK(cudaFree(a));
    return wrong;
}

CORPUS_MAIN(test)
