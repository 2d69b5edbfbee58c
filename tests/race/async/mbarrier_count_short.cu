// SPDX-License-Identifier: Apache-2.0
// An mbarrier that expects 48 arrivals while 64 threads produce: the phase ends before all have written.
// RACE 1: read-write race, shared, can-overlap -- the phase does not wait for everybody who writes
// FIXED: expects 64
#include "async.h"

template <bool FIXED> __global__ void produce(int *out) {
    __shared__ int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, FIXED ? 64 : 48); // FIX
    }
    __syncthreads();
    tile[t] = t; // SIDE 1
    MBAR_ARRIVE(&full);
    MBAR_WAIT(&full, 0);
    out[t] = tile[63 - t]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(produce, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return 63 - i; });
}

CORPUS_MAIN(test)
