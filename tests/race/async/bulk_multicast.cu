// SPDX-License-Identifier: Apache-2.0
// One block loads a tile into the shared memory of both blocks of its cluster; each mbarrier is told of its own block's bytes. The other
// block takes a barrier of the cluster for the wait.
// RACE 1: read-write race, shared, can-overlap -- nobody in block 1 waits for the phase of its mbarrier
// FIXED: both wait
// NVCC: -Xptxas -w
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) load(const int *in, int *out) {
    __shared__ alignas(16) int tile[32];
    __shared__ uint64_t full;
    int t = threadIdx.x, rank = cluster_rank();
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 128);
    }
    CLUSTER_SYNC();
    if (rank == 0 && t == 0) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;" ::"r"(SHARED(tile)), "l"(in), "r"(SHARED(&full)), "h"((short)3) : "memory"); // SIDE 1
    }
    CLUSTER_SYNC();
    if (FIXED || rank == 0) { // FIX
        MBAR_WAIT(&full, 0);
    }
    out[32 * rank + t] = tile[31 - t]; // SIDE 1
    if (t == 0) {
        MBAR_WAIT(&full, 0);
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(32)), out(64);
    LAUNCH(load, 2, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 32 - i % 32; });
}

CORPUS_MAIN(test)
