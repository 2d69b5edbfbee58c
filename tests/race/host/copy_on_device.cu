// SPDX-License-Identifier: Apache-2.0
// cudaMemcpy from device to device returns before it is done, and belongs to the legacy stream.
// RACE 1: read-write race, global, can-overlap, launch 1, with copy -- a non-blocking stream does not wait for the legacy one
// FIXED: synchronizes
#include "host.h"

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> from(128, 1), a(128), b(128);
    Stream one;
    CHECK(cudaMemcpy(a, from, a.bytes(), cudaMemcpyDeviceToDevice));
    if (fixed) CHECK(cudaDeviceSynchronize()); // FIX
    twice<<<2, 64, 0, one>>>(a, b);
    return count_wrong(b.host(), [](int) { return 0x02020202; });
}

CORPUS_MAIN(test)
