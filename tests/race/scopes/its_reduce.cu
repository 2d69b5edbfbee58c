// SPDX-License-Identifier: Apache-2.0
// The last steps of a tree reduction within one warp without barriers, "warp-synchronous" (ScoR's reduction; iGUARD, table 4, type
// ITS), in global memory.
// RACE 1: read-write race, global, can-overlap -- a step reads what other lanes wrote in the step before
// FIXED: __syncwarp() after every step
#include "../corpus.h"

template <bool FIXED> __global__ void reduce(int *a)
{
    int *row = a + blockIdx.x * 32, t = threadIdx.x;
    for (int d = 16; d > 0; d /= 2) {
        if (t < d)
            row[t] += row[t + d]; // SIDE 1
        if constexpr (FIXED)
            __syncwarp(); // FIX
    }
}

static int test(bool fixed)
{
    std::vector<int> values(64, 1);
    Buffer<int> a(values);
    LAUNCH(reduce, 2, 32, a);
    return (a.host()[0] != 32) + (a.host()[32] != 32);
}

CORPUS_MAIN(test)
