// SPDX-License-Identifier: Apache-2.0
// Two blocks store tiles to global memory with bulk copies; the second begins one vector too early.
// RACE 1: write-write race, global, can-overlap -- the last four words of block 0 are the first of block 1
// FIXED: tiles do not overlap
#include "async.h"

template <bool FIXED> __global__ void store(int *out) {
    __shared__ alignas(16) int tile[32];
    int t = threadIdx.x, block = blockIdx.x;
    tile[t] = 32 * block + t;
    FENCE_ASYNC();
    __syncthreads();
    if (t == 0) {
        BULK_STORE(out + (FIXED ? 32 : 28) * block, tile, 128); // FIX; SIDE 1
        BULK_COMMIT();
        BULK_WAIT(0);
    }
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(store, 2, 32, out);
    return count_wrong(out.host(), [](int i) { return i; });
}

CORPUS_MAIN(test)
