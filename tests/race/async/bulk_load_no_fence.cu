// SPDX-License-Identifier: Apache-2.0
// Threads store to global memory, and after a barrier one of them loads it with a bulk copy, which goes through the async proxy.
// RACE 1: proxy race, global, missing-order -- ordered by the barrier, but no fence.proxy.async between the stores and the copy
// FIXED: fence.proxy.async before the barrier
#include "async.h"

template <bool FIXED> __global__ void turn(int *data, int *out) {
    __shared__ alignas(16) int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 1);
    }
    data[63 - t] = 5 * t; // SIDE 1
    if constexpr (FIXED) asm volatile("fence.proxy.async;" ::: "memory"); // FIX
    __syncthreads();
    if (t == 0) {
        MBAR_EXPECT(&full, 256);
        BULK_LOAD(tile, data, 256, &full); // SIDE 1
    }
    MBAR_WAIT(&full, 0);
    out[t] = tile[t]; // NEVER
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(turn, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 5 * (63 - i); });
}

CORPUS_MAIN(test)
