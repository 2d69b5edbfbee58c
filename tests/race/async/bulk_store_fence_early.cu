// SPDX-License-Identifier: Apache-2.0
// The proxy fence stands before the stores that it was meant for.
// RACE 1: proxy race, shared, missing-order -- a proxy fence covers what comes before it
// FIXED: fences after the stores
#include "async.h"

template <bool FIXED> __global__ void store(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    if constexpr (!FIXED) FENCE_ASYNC();
    tile[t] = in[t] * 7; // SIDE 1
    if constexpr (FIXED) FENCE_ASYNC(); // FIX
    __syncthreads();
    if (t == 0) {
        BULK_STORE(out, tile, 256); // SIDE 1
        BULK_COMMIT();
        BULK_WAIT(0);
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(store, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 7 * (i + 1); });
}

CORPUS_MAIN(test)
