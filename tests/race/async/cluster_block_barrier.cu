// SPDX-License-Identifier: Apache-2.0
// Distributed shared memory: a block reads its neighbour's part after __syncthreads, which waits for its own block only.
// RACE 1: read-write race, shared, can-overlap -- two blocks of a cluster, and no barrier of the cluster between
// FIXED: barrier.cluster
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) swap(const int *in, int *out) {
    __shared__ int part[32];
    int t = threadIdx.x, rank = cluster_rank(), value;
    part[t] = in[32 * rank + t]; // SIDE 1
    if constexpr (FIXED) CLUSTER_SYNC(); // FIX
    else __syncthreads();
    REMOTE_LOAD(value, map_to_rank(&part[31 - t], 1 - rank)); // SIDE 1
    out[32 * rank + t] = value;
    CLUSTER_SYNC(); // the neighbour may still read
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(swap, 2, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
