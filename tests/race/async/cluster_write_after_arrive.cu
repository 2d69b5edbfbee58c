// SPDX-License-Identifier: Apache-2.0
// A split barrier of the cluster: between arrive and wait a thread may do other things, but not what the others are to see.
// RACE 1: read-write race, shared, can-overlap -- the store comes after the arrival that was to release it
// FIXED: stores before it arrives
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) swap(const int *in, int *out) {
    __shared__ int part[32];
    int t = threadIdx.x, rank = cluster_rank(), value;
    if constexpr (!FIXED) CLUSTER_ARRIVE();
    part[t] = in[32 * rank + t]; // SIDE 1
    if constexpr (FIXED) CLUSTER_ARRIVE(); // FIX
    CLUSTER_WAIT();
    REMOTE_LOAD(value, map_to_rank(&part[31 - t], 1 - rank)); // SIDE 1
    out[32 * rank + t] = value;
    CLUSTER_SYNC();
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(swap, 2, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
