// SPDX-License-Identifier: Apache-2.0
// Copies that complete on an mbarrier: cp.async.mbarrier.arrive arrives when the thread's copies are done, mbarrier.arrive at once.
// RACE 1: read-write race, shared, can-overlap -- the arrival of the producers says nothing of their copies
// FIXED: cp.async.mbarrier.arrive
#include "async.h"

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 32);
    }
    __syncthreads();
    if (t < 32) {
        CP_ASYNC(&tile[t], &in[t]); // SIDE 1
        if constexpr (FIXED) CP_ARRIVE(&full); // FIX
        else MBAR_ARRIVE(&full);
    } else {
        MBAR_WAIT(&full, 0);
        out[t - 32] = tile[63 - t]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(32)), out(32);
    LAUNCH(copy, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 32 - i; });
}

CORPUS_MAIN(test)
