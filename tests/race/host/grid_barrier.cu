// SPDX-License-Identifier: Apache-2.0
// A cooperative launch in two phases. A block barrier between them does not wait for the other blocks.
// RACE 1: read-write race, global, can-overlap, launch 1 -- block 0 reads what block 1 writes
// FIXED: grid.sync()
#include <cooperative_groups.h>

#include "host.h"

template <bool FIXED> __global__ void phases(int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
    if constexpr (FIXED) cooperative_groups::this_grid().sync(); // FIX
    else __syncthreads();
    b[i] = a[127 - i]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128), b(128);
    int *pa = a, *pb = b;
    void *args[] = {&pa, &pb};
    const void *kernel = fixed ? (const void *)phases<true> : (const void *)phases<false>;
    CHECK(cudaLaunchCooperativeKernel(kernel, dim3(2), dim3(64), args, 0, nullptr));
    return count_wrong(b.host(), [](int i) { return 128 - i; });
}

CORPUS_MAIN(test)
