// SPDX-License-Identifier: Apache-2.0
// Tiles come by bulk copy into one buffer; the next copy is issued while other threads read the tile.
// RACE 1: read-write race, shared, can-overlap -- nothing tells thread 0 that the others are done with the tile
// FIXED: a barrier after the reads
#include "async.h"

template <bool FIXED> __global__ void sum(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x, total = 0;
    if (t == 0) {
        MBAR_INIT(&full, 1);
    }
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        if (t == 0) {
            MBAR_EXPECT(&full, 256);
            BULK_LOAD(tile, in + 64 * k, 256, &full); // SIDE 1
        }
        MBAR_WAIT(&full, k % 2);
        total += tile[63 - t]; // SIDE 1
        if constexpr (FIXED) __syncthreads(); // FIX
    }
    out[t] = total;
}

static int test(bool fixed) {
    Buffer<int> in(numbers(192)), out(64);
    LAUNCH(sum, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 3 * (64 - i) + 3 * 64; });
}

CORPUS_MAIN(test)
