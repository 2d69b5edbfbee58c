// SPDX-License-Identifier: Apache-2.0
// A block clears its input after a barrier, while the bulk copy that it issued before may still read it.
// RACE 1: read-write race, global, can-overlap -- the barrier does not wait for the copy
// FIXED: waits for the copy first
#include "async.h"

template <bool FIXED> __global__ void take(int *data, int *out) {
    __shared__ alignas(16) int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 256);
        BULK_LOAD(tile, data, 256, &full); // SIDE 1
    }
    __syncthreads();
    if constexpr (FIXED) MBAR_WAIT(&full, 0); // FIX
    data[t] = 0; // SIDE 1
    MBAR_WAIT(&full, 0);
    out[t] = tile[t]; // NEVER
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(take, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
