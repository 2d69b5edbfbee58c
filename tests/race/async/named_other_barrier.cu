// SPDX-License-Identifier: Apache-2.0
// Two producer warps, two consumer warps, a named barrier for each pair. The consumers are told only that the first producer is done.
// RACE 1: read-write race, shared, can-overlap -- warp 3 reads what warp 1 writes, and met only warp 0
// FIXED: a barrier for each pair
#include "async.h"

template <bool FIXED> __global__ void pairs(int *out) {
    __shared__ int slot[2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, pair = warp % 2;
    if (warp < 2) {
        slot[pair][lane] = 100 * pair + lane; // SIDE 1
        if constexpr (FIXED) BAR_ARRIVE(1 + pair, 64); // FIX
        else if (pair == 0) BAR_ARRIVE(1, 96);
    } else {
        if constexpr (FIXED) BAR_SYNC(1 + pair, 64);
        else BAR_SYNC(1, 96);
        out[32 * pair + lane] = slot[pair][31 - lane]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(pairs, 1, 128, out);
    return count_wrong(out.host(), [](int i) { return 100 * (i / 32) + 31 - i % 32; });
}

CORPUS_MAIN(test)
