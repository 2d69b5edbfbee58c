// SPDX-License-Identifier: Apache-2.0
// The arrival from the other block releases to the cluster, but the wait acquires from its own block only.
// RACE 1: read-write race, shared, missing-order -- the arriving thread is not in the scope of the wait
// FIXED: .acquire.cluster
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) send(const int *in, int *out) {
    __shared__ int box[32];
    __shared__ uint64_t full;
    int t = threadIdx.x, rank = cluster_rank();
    if (t == 0) {
        MBAR_INIT(&full, 32);
    }
    CLUSTER_SYNC();
    if (rank == 0) {
        REMOTE_STORE(map_to_rank(&box[t], 1), in[t]); // SIDE 1
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map_to_rank(&full, 1)) : "memory");
    } else {
        if constexpr (FIXED) MBAR_WAIT_AS(".acquire.cluster.shared::cta", &full, 0); // FIX
        else MBAR_WAIT_AS(".acquire.cta.shared::cta", &full, 0);
        out[t] = box[31 - t]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(32)), out(32);
    LAUNCH(send, 2, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 32 - i; });
}

CORPUS_MAIN(test)
