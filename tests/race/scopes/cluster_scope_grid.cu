// SPDX-License-Identifier: Apache-2.0
// A counter in global memory that all blocks increment with atomics of the cluster's scope: enough within a cluster, too little between
// two of them.
// RACE 1: insufficient scope, global, can-overlap, scope cluster -- the blocks of two clusters
// FIXED: the device's scope
#include "../corpus.h"

template <bool FIXED> __global__ void __cluster_dims__(2) count(int *counter)
{
    int before;
    if constexpr (FIXED)
        asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter)); // FIX
    else
        asm volatile("atom.relaxed.cluster.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter)); // SIDE 1
}

static int test(bool fixed)
{
    Buffer<int> counter(1);
    LAUNCH(count, 4, 32, counter);
    return count_wrong(counter.host(), [](size_t) { return 128; });
}

CORPUS_MAIN(test)
