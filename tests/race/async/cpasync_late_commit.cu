// SPDX-License-Identifier: Apache-2.0
// A copy that is issued after the last commit belongs to no group yet, so no wait_group covers it (PTX ISA, cp.async.wait_group).
// RACE 1: read-write race, shared, can-overlap -- the second copy was never committed before the wait
// FIXED: commits before waiting
#include "async.h"

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int low[32], high[32];
    int t = threadIdx.x;
    CP_ASYNC(&low[t], &in[t]);
    CP_COMMIT();
    CP_ASYNC(&high[t], &in[32 + t]); // SIDE 1
    if constexpr (FIXED) CP_COMMIT(); // FIX
    CP_WAIT(0);
    out[t] = low[t];       // NEVER
    out[32 + t] = high[t]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 32, in, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
