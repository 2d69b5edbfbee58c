// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk (shared->global) SMEM RW (SuperCollider, table 3): the copy reads shared memory that other threads write.
// RACE 1: read-write race, shared, can-overlap -- nobody waits until the copy has read its source
// FIXED: wait_group.read and a barrier before the stores
#include "../async/async.h"

template <bool FIXED> __global__ void save(int *out) {
    __shared__ alignas(128) int tile[64];
    int t = threadIdx.x;
    tile[t] = t + 1;
    FENCE_ASYNC();
    __syncthreads();
    if (t == 0) {
        BULK_STORE(out, tile, 256); // SIDE 1
        BULK_COMMIT();
        if constexpr (FIXED) BULK_WAIT_READ(0); // FIX
    }
    __syncthreads();
    tile[t] = -t; // SIDE 1
    if (t == 0) {
        BULK_WAIT(0);
    }
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(save, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
