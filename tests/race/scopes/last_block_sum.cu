// SPDX-License-Identifier: Apache-2.0
// The reduction of CUDA's sample threadFenceReduction: the block that finishes last adds up what all blocks left. The
// sample's fence is what this is about.
// RACE 1: read-write race, global, missing-order -- a block's sum is not released by its ticket
// FIXED: __threadfence() on both sides of the ticket
#include "../corpus.h"

template <bool FIXED> __global__ void sum(const int *in, int *partial, unsigned *tickets, int *out)
{
    __shared__ bool last;
    int v = __reduce_add_sync(~0u, in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = v; // SIDE 1
        if constexpr (FIXED)
            __threadfence(); // FIX
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1; // NEVER
        if constexpr (FIXED)
            __threadfence(); // FIX
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++)
            total += partial[b]; // SIDE 1
        *out = total;
    }
}

static int test(bool fixed)
{
    std::vector<int> values(6 * 32);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = i;
    Buffer<int> in(values), partial(6), out(1);
    Buffer<unsigned> tickets(1);
    LAUNCH(sum, 6, 32, in, partial, tickets, out);
    return count_wrong(out.host(), [](size_t) { return 191 * 192 / 2; });
}

CORPUS_MAIN(test)
