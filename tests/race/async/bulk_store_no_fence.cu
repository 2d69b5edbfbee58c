// SPDX-License-Identifier: Apache-2.0
// A tile is stored to shared memory and then to global memory by a bulk copy. The copy is of the async proxy, the stores of the generic one.
// RACE 1: proxy race, shared, missing-order -- ordered by the barrier, but no fence.proxy.async tells the async proxy
// FIXED: every thread fences before the barrier
#include "async.h"

template <bool FIXED> __global__ void store(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    tile[t] = in[63 - t]; // SIDE 1
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
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
