// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk from global to shared memory by one thread; the block meets at a barrier instead of waiting for the mbarrier.
// RACE 1: read-write race, shared, can-overlap -- only the mbarrier's phase tells that the bytes are there
// FIXED: waits for the phase
#include "async.h"

template <bool FIXED> __global__ void load(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 256);
        BULK_LOAD(tile, in, 256, &full); // SIDE 1
    }
    __syncthreads();
    if constexpr (FIXED) MBAR_WAIT(&full, 0); // FIX
    out[t] = tile[63 - t]; // SIDE 1
    if constexpr (!FIXED) MBAR_WAIT(&full, 0);
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(load, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
