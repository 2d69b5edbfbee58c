// SPDX-License-Identifier: Apache-2.0
// Two groups in flight, as in a software pipeline, and a wait that leaves one pending: the second group is not covered.
// RACE 1: read-write race, shared, can-overlap -- wait_group 1 lets the newest group go on
// FIXED: wait_group 0
#include "async.h"

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int low[32], high[32];
    int t = threadIdx.x;
    CP_ASYNC(&low[t], &in[t]); // NEVER
    CP_COMMIT();
    CP_ASYNC(&high[t], &in[32 + t]); // SIDE 1
    CP_COMMIT();
    if constexpr (FIXED) CP_WAIT(0); // FIX
    else CP_WAIT(1);
    out[t] = low[t];       // NEVER
    out[32 + t] = high[t]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 32, in, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
