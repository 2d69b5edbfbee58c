// SPDX-License-Identifier: Apache-2.0
// cudaMemcpy2DAsync takes columns 0 to 15 of a matrix to the host while a kernel in another stream writes the rest, and one column more.
// RACE 1: read-write race, global, can-overlap, launch 1, with copy -- column 15 belongs to both
// FIXED: writes from column 16 on
#include "host.h"

__global__ void fill(int *a, int first) {
    if (threadIdx.x >= first) {
        a[32 * blockIdx.x + threadIdx.x] = 5; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> a(4 * 32);
    Pinned to(4 * 16);
    Stream one, copies;
    fill<<<4, 32, 0, one>>>(a, fixed ? 16 : 15); // FIX
    CHECK(cudaMemcpy2DAsync(to, 64, a, 128, 64, 4, cudaMemcpyDeviceToHost, copies));
    return count_wrong(a.host(), [](int i) { return i % 32 < 16 ? 0 : 5; });
}

CORPUS_MAIN(test)
