// SPDX-License-Identifier: Apache-2.0
// The source of a bulk store is filled with the next tile while the copy may still read it; wait_group.read is what frees it.
// RACE 1: read-write race, shared, can-overlap -- nobody waited until the copy had read its source
// FIXED: wait_group.read before the next tile
#include "async.h"

template <bool FIXED> __global__ void stream(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        tile[t] = in[64 * k + t] + 1; // SIDE 1
        FENCE_ASYNC();
        __syncthreads();
        if (t == 0) {
            BULK_STORE(out + 64 * k, tile, 256); // SIDE 1
            BULK_COMMIT();
            if constexpr (FIXED) BULK_WAIT_READ(0); // FIX
        }
        __syncthreads();
    }
    if (t == 0) {
        BULK_WAIT(0);
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(128)), out(128);
    LAUNCH(stream, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i + 2; });
}

CORPUS_MAIN(test)
