// SPDX-License-Identifier: Apache-2.0
// st.async writes to the other block's shared memory and completes on its mbarrier; a barrier of the cluster does not wait for it.
// RACE 1: read-write race, shared, can-overlap -- the store is asynchronous: only the phase of the mbarrier tells
// FIXED: waits for the phase
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) send(const int *in, int *out) {
    __shared__ int box[32];
    __shared__ uint64_t full;
    int t = threadIdx.x, rank = cluster_rank();
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 128);
    }
    CLUSTER_SYNC();
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(map_to_rank(&box[t], 1 - rank)), "r"(in[32 * rank + t]), "r"(map_to_rank(&full, 1 - rank)) : "memory"); // SIDE 1
    CLUSTER_SYNC();
    if constexpr (FIXED) MBAR_WAIT_AS(".acquire.cluster.shared::cta", &full, 0); // FIX
    out[32 * rank + t] = box[31 - t]; // SIDE 1
    MBAR_WAIT(&full, 0);
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(send, 2, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
