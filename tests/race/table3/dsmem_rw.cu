// SPDX-License-Identifier: Apache-2.0
// Distributed SMEM RW (SuperCollider, table 3): a block reads the shared memory of its neighbour in the cluster without a barrier.
// RACE 1: read-write race, shared, can-overlap -- nothing orders the neighbour's store before the read
// FIXED: barrier.cluster before the read
#include "../async/async.h"

template <bool FIXED> __global__ __cluster_dims__(2) void exchange(int *out) {
    __shared__ int tile[32];
    int t = threadIdx.x, rank = cluster_rank(), value;
    CLUSTER_SYNC(); // both blocks have begun
    tile[t] = 100 * rank + t; // SIDE 1
    if constexpr (FIXED) CLUSTER_SYNC(); // FIX
    REMOTE_LOAD(value, map_to_rank(&tile[t], rank ^ 1)); // SIDE 1
    out[32 * rank + t] = value;
    CLUSTER_SYNC(); // nobody leaves while it is read
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(exchange, 2, 32, out);
    return count_wrong(out.host(), [](int i) { return i < 32 ? 100 + i : i - 32; });
}

CORPUS_MAIN(test)
