// SPDX-License-Identifier: Apache-2.0
// Lanes of one warp pass a token along: each waits for a flag of its predecessor. Independent thread scheduling lets them;
// order must still be made.
// RACE 1: read-write race, shared, missing-order -- volatile flags order nothing but themselves
// RACE 2: write-write race, shared, missing-order -- likewise
// FIXED: fences of block scope around the flag
#include "../corpus.h"

template <bool FIXED> __global__ void chain(int *out)
{
    __shared__ volatile int turn;
    __shared__ int token;
    int t = threadIdx.x;
    if (t == 0) {
        turn = 0;
        token = 0;
    }
    __syncwarp();
    while (turn != t) { // NEVER
    }
    if constexpr (FIXED)
        __threadfence_block(); // FIX
    token += t; // SIDE 1 2
    if constexpr (FIXED)
        __threadfence_block(); // FIX
    turn = t + 1; // NEVER
    __syncwarp();
    if (t == 0)
        out[blockIdx.x] = token;
}

static int test(bool fixed)
{
    Buffer<int> out(2);
    LAUNCH(chain, 2, 8, out);
    return count_wrong(out.host(), [](size_t) { return 28; });
}

CORPUS_MAIN(test)
