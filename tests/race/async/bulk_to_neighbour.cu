// SPDX-License-Identifier: Apache-2.0
// A bulk copy from one block's shared memory to the other's, completing on the receiver's mbarrier. The sender reuses its tile at once.
// RACE 1: read-write race, shared, can-overlap -- the sender has no way to know that its tile has been read
// FIXED: the receiver tells it, with a barrier of the cluster
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) send(const int *in, int *out) {
    __shared__ alignas(16) int tile[32], box[32];
    __shared__ uint64_t full;
    int t = threadIdx.x, rank = cluster_rank();
    tile[t] = in[32 * rank + t];
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 128);
    }
    FENCE_ASYNC();
    CLUSTER_SYNC();
    if (t == 0) {
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(map_to_rank(box, 1 - rank)), "r"(SHARED(tile)), "r"(map_to_rank(&full, 1 - rank)) : "memory"); // SIDE 1
    }
    if constexpr (FIXED) { // FIX
        MBAR_WAIT(&full, 0);
        CLUSTER_SYNC();
    }
    tile[t] = -1; // SIDE 1
    MBAR_WAIT(&full, 0);
    out[32 * rank + t] = box[31 - t] - tile[t]; // NEVER
    CLUSTER_SYNC();
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(send, 2, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 65 - i; });
}

CORPUS_MAIN(test)
