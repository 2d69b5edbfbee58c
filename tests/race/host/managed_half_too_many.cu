// SPDX-License-Identifier: Apache-2.0
// Managed memory in two halves, one for the kernel and one for the host, whose loop begins one element too early.
// RACE 1: write-write race, global, can-overlap, launch 1, with host -- element 31 belongs to both
// FIXED: begins at 32
#include "host.h"

__global__ void fill(int *a) {
    a[threadIdx.x] = threadIdx.x; // SIDE 1
}

static int test(bool fixed) {
    int *a, wrong = 0;
    CHECK(cudaMallocManaged(&a, 64 * sizeof *a));
    fill<<<1, 32>>>(a);
    for (int i = fixed ? 32 : 31; i < 64; i++) { // FIX
        a[i] = 2 * i;
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        wrong += a[i] != (i < 32 ? i : 2 * i);
    }
    CHECK(cudaFree(a));
    return wrong;
}

CORPUS_MAIN(test)
