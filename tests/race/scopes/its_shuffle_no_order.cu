// SPDX-License-Identifier: Apache-2.0
// A shuffle makes the lanes of a warp meet, so it is taken for a barrier. It hands over a register; PTX promises nothing about memory.
// RACE 1: read-write race, shared, missing-order -- shfl.sync orders no memory accesses
// FIXED: __syncwarp()
#include "../corpus.h"

template <bool FIXED> __global__ void gather(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = 3 * t; // SIDE 1
    int from = __shfl_xor_sync(~0u, t, 1);
    if constexpr (FIXED)
        __syncwarp(); // FIX
    out[blockIdx.x * 32 + t] = s[from]; // SIDE 1
}

static int test(bool fixed)
{
    Buffer<int> out(64);
    LAUNCH(gather, 2, 32, out);
    return count_wrong(out.host(), [](size_t i) { return 3 * (i % 32 ^ 1); });
}

CORPUS_MAIN(test)
