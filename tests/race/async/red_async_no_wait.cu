// SPDX-License-Identifier: Apache-2.0
// red.async adds to a counter in the other block's shared memory, whose threads read it without waiting for the mbarrier.
// RACE 1: read-write race, shared, can-overlap -- the additions are under way until the phase of the mbarrier is over
// FIXED: waits for the phase
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) count(int *out) {
    __shared__ int sum;
    __shared__ uint64_t full;
    int t = threadIdx.x, rank = cluster_rank();
    if (t == 0) {
        sum = 100; // NEVER
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 128);
    }
    CLUSTER_SYNC();
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(map_to_rank(&sum, 1 - rank)), "r"(t), "r"(map_to_rank(&full, 1 - rank)) : "memory"); // SIDE 1
    if constexpr (FIXED) MBAR_WAIT_AS(".acquire.cluster.shared::cta", &full, 0); // FIX
    out[32 * rank + t] = sum; // SIDE 1
    MBAR_WAIT(&full, 0);
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(count, 2, 32, out);
    return count_wrong(out.host(), [](int) { return 100 + 31 * 16; });
}

CORPUS_MAIN(test)
