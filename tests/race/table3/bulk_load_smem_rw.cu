// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk (global->shared) SMEM RW (SuperCollider, table 3): the copy writes shared memory while threads read it.
// RACE 1: read-write race, shared, can-overlap -- the next tile arrives while the other threads still read this one
// FIXED: a barrier between the last read and the copy
#include "../async/async.h"

template <bool FIXED> __global__ void load(const int *in, int *out) {
    __shared__ alignas(128) int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    tile[t] = -t;
    if (t == 0) {
        MBAR_INIT(&full, 1);
    }
    FENCE_ASYNC();
    __syncthreads();
    int before = tile[63 - t]; // SIDE 1
    if constexpr (FIXED) __syncthreads(); // FIX
    if (t == 0) {
        MBAR_EXPECT(&full, 256);
        BULK_LOAD(tile, in, 256, &full); // SIDE 1
    }
    MBAR_WAIT(&full, 0);
    out[t] = before + tile[63 - t];
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(load, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i - 63 + 64 - i; });
}

CORPUS_MAIN(test)
