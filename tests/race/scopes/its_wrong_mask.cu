// SPDX-License-Identifier: Apache-2.0
// __syncwarp() with the mask of each half of the warp, while the exchange goes across the halves.
// RACE 1: read-write race, shared, can-overlap -- the partner is not in the mask
// FIXED: the mask of the whole warp
#include "../corpus.h"

template <bool FIXED> __global__ void exchange(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t * t; // SIDE 1
    __syncwarp(FIXED ? ~0u : t < 16 ? 0xffffu : 0xffff0000u); // FIX
    out[blockIdx.x * 32 + t] = s[31 - t]; // SIDE 1
}

static int test(bool fixed)
{
    Buffer<int> out(64);
    LAUNCH(exchange, 2, 32, out);
    return count_wrong(out.host(), [](size_t i) { return (31 - i % 32) * (31 - i % 32); });
}

CORPUS_MAIN(test)
