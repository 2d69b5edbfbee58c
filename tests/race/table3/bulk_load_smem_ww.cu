// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk (global->shared) SMEM WW (SuperCollider, table 3): the copy writes shared memory while threads write it too.
// RACE 1: write-write race, shared, can-overlap -- the stores do not wait for the copy
// FIXED: every thread waits for the phase of the copy's mbarrier before it stores
#include "../async/async.h"

template <bool FIXED> __global__ void load(const int *in, int *out) {
    __shared__ alignas(128) int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 256);
        BULK_LOAD(tile, in, 256, &full); // SIDE 1
    }
    __syncthreads();
    if constexpr (FIXED) MBAR_WAIT(&full, 0); // FIX
    if (t % 2) {
        tile[t] = -t; // SIDE 1
    }
    MBAR_WAIT(&full, 0);
    out[t] = tile[t];
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(load, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i % 2 ? -i : i + 1; });
}

CORPUS_MAIN(test)
