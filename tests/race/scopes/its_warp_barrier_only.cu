// SPDX-License-Identifier: Apache-2.0
// __syncwarp() where two warps meet.
// RACE 1: read-write race, shared, can-overlap -- the neighbour of the last lane is in another warp
// FIXED: __syncthreads()
#include "../corpus.h"

template <bool FIXED> __global__ void shift(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = 5 * t; // SIDE 1
    if constexpr (FIXED)
        __syncthreads(); // FIX
    else
        __syncwarp();
    out[blockIdx.x * 64 + t] = s[(t + 1) % 64]; // SIDE 1
}

static int test(bool fixed)
{
    Buffer<int> out(128);
    LAUNCH(shift, 2, 64, out);
    return count_wrong(out.host(), [](size_t i) { return 5 * ((i + 1) % 64); });
}

CORPUS_MAIN(test)
