// SPDX-License-Identifier: Apache-2.0
// Every thread fences its stores for the async proxy, and thread 0 issues the copy without waiting for the others.
// RACE 1: read-write race, shared, can-overlap -- a proxy fence is no barrier
// FIXED: __syncthreads between
#include "async.h"

template <bool FIXED> __global__ void store(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    tile[t] = in[63 - t]; // SIDE 1
    FENCE_ASYNC();
    if constexpr (FIXED) __syncthreads(); // FIX
    if (t == 0) {
        BULK_STORE(out, tile, 256); // SIDE 1
        BULK_COMMIT();
        BULK_WAIT(0);
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(store, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
