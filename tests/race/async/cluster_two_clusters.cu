// SPDX-License-Identifier: Apache-2.0
// A barrier of the cluster orders the blocks of one cluster, not those of two.
// RACE 1: read-write race, global, can-overlap -- block 2 is in another cluster than block 1
// FIXED: each reads from its own cluster
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) ring(int *data, int *out) {
    int t = threadIdx.x, block = blockIdx.x;
    data[32 * block + t] = block; // SIDE 1
    CLUSTER_SYNC();
    int from = FIXED ? block ^ 1 : (block + 1) % 4; // FIX
    out[32 * block + t] = data[32 * from + 31 - t]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> data(128), out(128);
    LAUNCH(ring, 4, 32, data, out);
    return count_wrong(out.host(), [](int i) { return i / 32 ^ 1; });
}

CORPUS_MAIN(test)
