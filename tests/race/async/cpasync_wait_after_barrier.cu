// SPDX-License-Identifier: Apache-2.0
// The wait and the barrier in the wrong order: the neighbour's copy may be pending when the barrier opens.
// RACE 1: read-write race, shared, can-overlap -- the barrier passes on what its threads knew, and that was before the wait
// FIXED: waits first
#include "async.h"

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    CP_ASYNC(&tile[t], &in[t]); // SIDE 1
    CP_COMMIT();
    if constexpr (FIXED) CP_WAIT(0); // FIX
    __syncthreads();
    if constexpr (!FIXED) CP_WAIT(0);
    out[t] = tile[t ^ 33]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return (i ^ 33) + 1; });
}

CORPUS_MAIN(test)
