// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk (shared->global) SMEM WW (SuperCollider, table 3): two threads fill the same word of what is to be copied.
// RACE 1: write-write race, shared, can-overlap -- two warps store to each word of the tile
// FIXED: every thread has words of its own
#include "../async/async.h"

template <bool FIXED> __global__ void save(int *out) {
    __shared__ alignas(128) int tile[64];
    int t = threadIdx.x, word = t;
    if constexpr (!FIXED) word %= 32; // FIX: not in the twin
    tile[word] = t + 1; // SIDE 1
    FENCE_ASYNC();
    __syncthreads();
    if (t == 0) {
        BULK_STORE(out, tile, 256);
        BULK_COMMIT();
        BULK_WAIT(0);
    }
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(save, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
