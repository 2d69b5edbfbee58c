// SPDX-License-Identifier: Apache-2.0
// Threads that have nothing to do leave early; the barriers that follow are those of the threads that stayed.
// RACE 1: read-write race, shared, missing-order -- one who left stored before, and took part in no barrier, though that waits until it left
// FIXED: it stores its cell only if it stays
#include "../corpus.h"

template <bool FIXED> __global__ void leave(int *out) {
    __shared__ int cell[64];
    int t = threadIdx.x;
    if (t >= 32) {
        if constexpr (!FIXED) cell[t] = 1; // SIDE 1, FIX: not in the twin
        return;
    }
    cell[t] = 2 * t; // NEVER
    if constexpr (FIXED) cell[t + 32] = 1;
    __syncthreads();
    out[t] = cell[31 - t] + cell[t + 32]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> out(32);
    LAUNCH(leave, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return 2 * (31 - i) + 1; });
}

CORPUS_MAIN(test)
