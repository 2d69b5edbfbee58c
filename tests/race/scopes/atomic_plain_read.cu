// SPDX-License-Identifier: Apache-2.0
// Warps add to a counter in shared memory with atomics, and one looks at it without waiting for them.
// RACE 1: read-write race, shared, can-overlap -- a plain load and the atomics of other warps
// FIXED: __syncthreads() first
#include "../corpus.h"

template <bool FIXED> __global__ void count(int *out)
{
    __shared__ int counter;
    if (threadIdx.x == 0)
        counter = 0; // NEVER
    __syncthreads();
    atomicAdd(&counter, 1); // SIDE 1
    if constexpr (FIXED)
        __syncthreads(); // FIX
    if (threadIdx.x == 127)
        out[blockIdx.x] = counter; // SIDE 1
}

static int test(bool fixed)
{
    Buffer<int> out(2);
    LAUNCH(count, 2, 128, out);
    return count_wrong(out.host(), [](size_t) { return 128; });
}

CORPUS_MAIN(test)
