// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk (shared->global) GMEM RW (SuperCollider, table 3): threads read global memory before the copy to it is done.
// RACE 1: read-write race, global, can-overlap -- a barrier of the block says nothing about the copy
// FIXED: the thread that started the copy waits for its group before the barrier
#include "../async/async.h"

template <bool FIXED> __global__ void save(int *data, int *out) {
    __shared__ alignas(128) int tile[64];
    int t = threadIdx.x;
    tile[t] = t + 1;
    FENCE_ASYNC();
    __syncthreads();
    if (t == 0) {
        BULK_STORE(data, tile, 256); // SIDE 1
        BULK_COMMIT();
        if constexpr (FIXED) BULK_WAIT(0); // FIX
    }
    __syncthreads();
    out[t] = data[63 - t]; // SIDE 1
    if (t == 0) {
        BULK_WAIT(0);
    }
}

static int test(bool fixed) {
    Buffer<int> data(64), out(64);
    LAUNCH(save, 1, 64, data, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
