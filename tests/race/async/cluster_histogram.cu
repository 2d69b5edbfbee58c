// SPDX-License-Identifier: Apache-2.0
// A histogram over distributed shared memory (CUDA programming guide, "Thread block clusters"): each block owns half of the bins, and
// reads them out after a barrier of its own block.
// RACE 1: read-write race, shared, can-overlap -- the other block may still be adding to them
// FIXED: a barrier of the cluster
#include <cooperative_groups.h>

#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) histogram(const int *in, int *out) {
    __shared__ int bins[8];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t < 8) {
        bins[t] = 0; // NEVER
    }
    cluster.sync();
    int bin = in[32 * rank + t] % 16;
    atomicAdd(cluster.map_shared_rank(bins, bin / 8) + bin % 8, 1); // SIDE 1
    if constexpr (FIXED) cluster.sync(); // FIX
    else __syncthreads();
    if (t < 8) {
        out[8 * rank + t] = bins[t]; // SIDE 1
    }
    cluster.sync();
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(16);
    LAUNCH(histogram, 2, 32, in, out);
    return count_wrong(out.host(), [](int) { return 4; });
}

CORPUS_MAIN(test)
