// SPDX-License-Identifier: Apache-2.0
// Everybody waits for his own copies and then reads a neighbour's: a wait tells only the thread that issued.
// RACE 1: read-write race, shared, can-overlap -- the neighbour's copy is known to the neighbour alone
// FIXED: __syncthreads after the wait
#include "async.h"

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    CP_ASYNC(&tile[t], &in[t]); // SIDE 1
    CP_COMMIT();
    CP_WAIT(0);
    if constexpr (FIXED) __syncthreads(); // FIX
    out[t] = tile[63 - t]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
