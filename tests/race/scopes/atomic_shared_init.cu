// SPDX-License-Identifier: Apache-2.0
// A counter in shared memory is set to zero by one thread while others count already.
// RACE 1: write-write race, shared, can-overlap -- no barrier between setting and counting
// FIXED: __syncthreads()
#include "../corpus.h"

template <bool FIXED> __global__ void count(int *out)
{
    __shared__ int counter;
    if (threadIdx.x == 0)
        counter = 0; // SIDE 1
    if constexpr (FIXED)
        __syncthreads(); // FIX
    atomicAdd(&counter, 1); // SIDE 1
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = counter; // NEVER
}

static int test(bool fixed)
{
    Buffer<int> out(2);
    LAUNCH(count, 2, 128, out);
    return count_wrong(out.host(), [](size_t) { return 128; });
}

CORPUS_MAIN(test)
