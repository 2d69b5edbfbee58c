// SPDX-License-Identifier: Apache-2.0
// Both blocks of a cluster count in the shared memory of block 0, with atomics of block scope.
// RACE 1: insufficient scope, shared, can-overlap, scope cta -- the other block's thread is outside
// FIXED: cluster scope
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) count(int *out) {
    __shared__ int bins[4];
    int t = threadIdx.x;
    if (t < 4) {
        bins[t] = 0;
    }
    CLUSTER_SYNC();
    unsigned bin = map_to_rank(&bins[t % 4], 0);
    if constexpr (FIXED) {
        asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(bin) : "memory"); // FIX
    } else {
        asm volatile("red.relaxed.cta.shared::cluster.add.u32 [%0], 1;" ::"r"(bin) : "memory"); // SIDE 1
    }
    CLUSTER_SYNC();
    if (cluster_rank() == 0 && t < 4) {
        out[t] = bins[t]; // NEVER
    }
}

static int test(bool fixed) {
    Buffer<int> out(4);
    LAUNCH(count, 2, 32, out);
    return count_wrong(out.host(), [](int) { return 16; });
}

CORPUS_MAIN(test)
