// SPDX-License-Identifier: Apache-2.0
// Only thread 0 waits, as if cp.async were the block's: each thread's groups are its own.
// RACE 1: read-write race, shared, can-overlap -- nobody waited for the copies of threads 1 to 63
// FIXED: all wait
#include "async.h"

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    CP_ASYNC(&tile[t], &in[t]); // SIDE 1
    CP_COMMIT();
    if (FIXED || t == 0) { // FIX
        CP_WAIT(0);
    }
    __syncthreads();
    out[t] = tile[63 - t]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
