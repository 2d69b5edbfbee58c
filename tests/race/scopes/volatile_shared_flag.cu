// SPDX-License-Identifier: Apache-2.0
// Warp specialization by hand: one warp fills a tile in shared memory and raises a volatile flag, the others poll it.
// RACE 1: read-write race, shared, missing-order -- volatile stores and loads are relaxed
// FIXED: fences of block scope
#include "../corpus.h"

template <bool FIXED> __global__ void feed(int *out)
{
    __shared__ int tile[32];
    __shared__ volatile int ready[32];
    int t = threadIdx.x, lane = t % 32;
    if (t < 32)
        ready[lane] = 0;
    __syncthreads();
    if (t < 32) {
        tile[lane] = 2 * lane; // SIDE 1
        if constexpr (FIXED)
            __threadfence_block(); // FIX
        ready[lane] = 1; // NEVER
    } else {
        while (!ready[lane]) { // NEVER
        }
        if constexpr (FIXED)
            __threadfence_block(); // FIX
        out[blockIdx.x * 64 + t - 32] = tile[lane]; // SIDE 1
    }
}

static int test(bool fixed)
{
    Buffer<int> out(128);
    LAUNCH(feed, 2, 96, out);
    return count_wrong(out.host(), [](size_t i) { return 2 * (i % 32); });
}

CORPUS_MAIN(test)
