// SPDX-License-Identifier: Apache-2.0
// A record of two 16-bit halves: one side compares and swaps its half, the other swaps the word.
// RACE 1: mixed-size race, shared, can-overlap -- a 16-bit and a 32-bit atomic on the same bytes
// FIXED: the word is swapped on both sides
#include "../corpus.h"

template <bool FIXED> __global__ void mark(int *out)
{
    __shared__ unsigned word;
    if (threadIdx.x == 0)
        word = 0; // NEVER
    __syncthreads();
    if (threadIdx.x == 32) {
        if constexpr (FIXED)
            atomicOr(&word, 1u); // FIX
        else
            atomicCAS((unsigned short *)&word, (unsigned short)0, (unsigned short)1); // SIDE 1
    } else if (threadIdx.x == 0) {
        atomicOr(&word, 0x10000u); // SIDE 1
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = word; // NEVER
}

static int test(bool fixed)
{
    Buffer<int> out(2);
    LAUNCH(mark, 2, 64, out);
    return count_wrong(out.host(), [](size_t) { return 0x10001; });
}

CORPUS_MAIN(test)
