// SPDX-License-Identifier: Apache-2.0
// A shuffle makes the lanes of a warp meet, but PTX promises no memory order from it; people take it for a __syncwarp.
// RACE 1: read-write race, shared, missing-order -- the lanes have met between the two accesses, which orders nothing
// FIXED: __syncwarp beside the shuffle
#include "../corpus.h"

template <bool FIXED> __global__ void turn(const int *in, int *out) {
    __shared__ int cell[32];
    int t = threadIdx.x, value = in[t];
    cell[t] = value; // SIDE 1
    int left = __shfl_up_sync(~0u, value, 1);
    if constexpr (FIXED) __syncwarp(); // FIX
    out[t] = cell[31 - t] - left; // SIDE 1
}

static int test(bool fixed) {
    std::vector<int> values;
    for (int i = 0; i < 32; i++) {
        values.push_back(i);
    }
    Buffer<int> in(values), out(32);
    LAUNCH(turn, 1, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 31 - i - (i ? i - 1 : 0); });
}

CORPUS_MAIN(test)
