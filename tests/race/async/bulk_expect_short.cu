// SPDX-License-Identifier: Apache-2.0
// Two bulk copies on one mbarrier that was told of the bytes of one: its phase ends when either is there.
// RACE 1: read-write race, shared, can-overlap -- the phase may be over while this copy writes
// RACE 2: read-write race, shared, can-overlap -- likewise the other
// FIXED: expects the bytes of both
#include "async.h"

template <bool FIXED> __global__ void load(const int *in, int *out) {
    __shared__ alignas(16) int low[64], high[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, FIXED ? 512 : 256); // FIX
        BULK_LOAD(low, in, 256, &full);       // SIDE 1
        BULK_LOAD(high, in + 64, 256, &full); // SIDE 2
    }
    __syncthreads();
    MBAR_WAIT(&full, 0);
    out[t] = low[t];       // SIDE 1
    out[64 + t] = high[t]; // SIDE 2
}

static int test(bool fixed) {
    Buffer<int> in(numbers(128)), out(128);
    LAUNCH(load, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
