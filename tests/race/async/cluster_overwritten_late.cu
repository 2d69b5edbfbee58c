// SPDX-License-Identifier: Apache-2.0
// The owner writes to its shared memory again while the neighbour may still read the first value.
// RACE 1: read-write race, shared, can-overlap -- nothing after the remote read tells the owner that it is done
// FIXED: a second barrier of the cluster
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) swap(const int *in, int *out) {
    __shared__ int part[32];
    int t = threadIdx.x, rank = cluster_rank(), value;
    part[t] = in[32 * rank + t]; // NEVER
    CLUSTER_SYNC();
    REMOTE_LOAD(value, map_to_rank(&part[t], 1 - rank)); // SIDE 1
    if constexpr (FIXED) CLUSTER_SYNC(); // FIX
    part[t] = value * 2; // SIDE 1
    out[32 * rank + t] = part[t];
    CLUSTER_SYNC();
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(swap, 2, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 2 * (i < 32 ? i + 33 : i - 31); });
}

CORPUS_MAIN(test)
