// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk (global->shared) GMEM RW (SuperCollider, table 3): the copy reads global memory while threads write it.
// RACE 1: read-write race, global, can-overlap -- the stores do not wait until the copy has read
// FIXED: every thread waits for the phase of the copy's mbarrier before it stores
#include "../async/async.h"

template <bool FIXED> __global__ void load(int *data, int *out) {
    __shared__ alignas(128) int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 256);
        BULK_LOAD(tile, data, 256, &full); // SIDE 1
    }
    __syncthreads();
    if constexpr (FIXED) MBAR_WAIT(&full, 0); // FIX
    data[t] = -t; // SIDE 1
    MBAR_WAIT(&full, 0);
    out[t] = tile[t];
}

static int test(bool fixed) {
    Buffer<int> data(numbers(64)), out(64);
    LAUNCH(load, 1, 64, data, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
