// SPDX-License-Identifier: Apache-2.0
// A thread writes to the shared memory of the other block and arrives on its mbarrier there. Without a scope, arrivals and waits are
// those of the block (PTX ISA, mbarrier.arrive and mbarrier.try_wait).
// RACE 1: read-write race, shared, missing-order -- the waiting thread is not in the scope of the arrival
// FIXED: .release.cluster and .acquire.cluster
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
        unsigned bar = map_to_rank(&full, 1);
        if constexpr (FIXED) {
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory"); // FIX
        } else {
            asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
        }
    } else {
        MBAR_WAIT_AS(".acquire.cluster.shared::cta", &full, 0);
        out[t] = box[31 - t]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(32)), out(32);
    LAUNCH(send, 2, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 32 - i; });
}

CORPUS_MAIN(test)
