// SPDX-License-Identifier: Apache-2.0
// mbarrier.try_wait.relaxed sees that the phase is over, but does not acquire.
// RACE 1: read-write race, shared, missing-order -- a releasing arrival and a relaxed wait do not synchronize
// FIXED: .acquire
#include "async.h"

template <bool FIXED> __global__ void produce(const int *in, int *out) {
    __shared__ int tile[32];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 32);
    }
    __syncthreads();
    if (t < 32) {
        tile[t] = in[t] + 5; // SIDE 1
        MBAR_ARRIVE(&full);
    } else {
        if constexpr (FIXED) MBAR_WAIT_AS(".acquire.cta.shared", &full, 0); // FIX
        else MBAR_WAIT_AS(".relaxed.cta.shared", &full, 0);
        out[t - 32] = tile[63 - t]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(32)), out(32);
    LAUNCH(produce, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 37 - i; });
}

CORPUS_MAIN(test)
