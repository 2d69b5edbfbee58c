// SPDX-License-Identifier: Apache-2.0
// Distributed SMEM WW (SuperCollider, table 3): two blocks of a cluster write to the shared memory of one of them.
// RACE 1: write-write race, shared, can-overlap -- nothing orders the stores of the two blocks
// FIXED: barrier.cluster between them
#include "../async/async.h"

template <bool FIXED> __global__ __cluster_dims__(2) void push(int *out) {
    __shared__ int tile[32];
    int t = threadIdx.x, rank = cluster_rank();
    CLUSTER_SYNC(); // both blocks have begun
    if (rank == 0) {
        tile[t] = -t; // SIDE 1
    }
    if constexpr (FIXED) CLUSTER_SYNC(); // FIX
    if (rank == 1) {
        REMOTE_STORE(map_to_rank(&tile[t], 0), t); // SIDE 1
    }
    CLUSTER_SYNC();
    if (rank == 0) {
        out[t] = tile[t];
    }
}

static int test(bool fixed) {
    Buffer<int> out(32);
    LAUNCH(push, 2, 32, out);
    return count_wrong(out.host(), [](int i) { return i; });
}

CORPUS_MAIN(test)
