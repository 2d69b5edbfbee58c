// SPDX-License-Identifier: Apache-2.0
// A block of a cluster exits while the other reads its shared memory: distributed shared memory lives as long as its block
// (CUDA programming guide, "Thread block clusters").
// MISUSE 1: shared memory of a finished block -- nothing keeps block 1 until block 0 has read
// FIXED: a last barrier of the cluster
#include "async.h"

template <bool FIXED> __global__ void __cluster_dims__(2) fetch(const int *in, int *out) {
    __shared__ int part[32];
    int t = threadIdx.x, rank = cluster_rank(), value = 0;
    part[t] = in[32 * rank + t];
    CLUSTER_SYNC();
    if (rank == 0) {
        for (int k = 0; k < 20; k++) {
            int got;
            REMOTE_LOAD(got, map_to_rank(&part[(t + k) % 32], 1)); // SIDE 1
            value += got;
        }
        out[t] = value;
    }
    if constexpr (FIXED) CLUSTER_SYNC(); // FIX
}

static int test(bool fixed) {
    Buffer<int> in(64, 1), out(32);
    if (fixed) {
        fetch<true><<<2, 32>>>(in, out);
    } else {
        fetch<false><<<2, 32>>>(in, out);
        cudaDeviceSynchronize(); // may report the fault
        return 1;
    }
    return count_wrong(out.host(), [](int) { return 20 * 0x01010101; });
}

CORPUS_MAIN(test)
