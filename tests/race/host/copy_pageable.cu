// SPDX-License-Identifier: Apache-2.0
// cudaMemcpy from pageable memory returns when the bytes are staged; they may reach the device later (CUDA runtime API, "API synchronization
// behavior").
// RACE 1: read-write race, global, can-overlap, launch 1, with copy -- a non-blocking stream does not wait for what is left of the copy
// FIXED: synchronizes
#include "host.h"

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128), b(128);
    std::vector<int> from(128, 21);
    Stream one;
    CHECK(cudaMemcpy(a, from.data(), a.bytes(), cudaMemcpyHostToDevice));
    if (fixed) CHECK(cudaDeviceSynchronize()); // FIX
    twice<<<2, 64, 0, one>>>(a, b);
    return count_wrong(b.host(), [](int) { return 42; });
}

CORPUS_MAIN(test)
