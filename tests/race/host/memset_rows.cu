// SPDX-License-Identifier: Apache-2.0
// cudaMemset2DAsync clears the first 64 bytes of each row while a kernel fills the padding behind them.
// CLEAN -- a box touches its rows, not what lies between them
#include "host.h"

__global__ void pad(int *a) {
    a[32 * blockIdx.x + 16 + threadIdx.x] = 9; // NEVER
}

static int test(bool) {
    Buffer<int> a(4 * 32, 1);
    Stream one, other;
    CHECK(cudaMemset2DAsync(a, 128, 0, 64, 4, one));
    pad<<<4, 16, 0, other>>>(a);
    return count_wrong(a.host(), [](int i) { return i % 32 < 16 ? 0 : 9; });
}

CORPUS_MAIN(test)
