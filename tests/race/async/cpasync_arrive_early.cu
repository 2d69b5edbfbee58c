// SPDX-License-Identifier: Apache-2.0
// cp.async.mbarrier.arrive covers the copies that its thread issued before it, not the one after.
// RACE 1: read-write race, shared, can-overlap -- the second copy is issued after the arrival that was to cover it
// FIXED: arrives after both
#include "async.h"

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int low[32], high[32];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 32);
    }
    __syncthreads();
    if (t < 32) {
        CP_ASYNC(&low[t], &in[t]); // NEVER
        if constexpr (!FIXED) CP_ARRIVE(&full);
        CP_ASYNC(&high[t], &in[32 + t]); // SIDE 1
        if constexpr (FIXED) CP_ARRIVE(&full); // FIX
    } else {
        MBAR_WAIT(&full, 0);
        out[t - 32] = low[t - 32]; // NEVER
        out[t] = high[t - 32];     // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
