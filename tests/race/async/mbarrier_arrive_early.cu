// SPDX-License-Identifier: Apache-2.0
// A producer that arrives before it writes. Consumers wait for the phase, and read.
// RACE 1: read-write race, shared, can-overlap -- an arrival releases only what came before it
// FIXED: writes first
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
        if constexpr (!FIXED) MBAR_ARRIVE(&full);
        tile[t] = in[t] * 3; // SIDE 1
        if constexpr (FIXED) MBAR_ARRIVE(&full); // FIX
    } else {
        MBAR_WAIT(&full, 0);
        out[t - 32] = tile[63 - t]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(32)), out(32);
    LAUNCH(produce, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 3 * (32 - i); });
}

CORPUS_MAIN(test)
