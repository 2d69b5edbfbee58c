// SPDX-License-Identifier: Apache-2.0
// Message passing between blocks: the writer has its fence, the reader goes on from the flag to the letter without one.
// RACE 1: read-write race, global, missing-order -- no fence between the flag and the letter: nothing is acquired
// FIXED: a fence of the device's scope after the flag was seen
#include "../corpus.h"

template <bool FIXED> __global__ void pass(int *letter, volatile int *flag, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        letter[t] = 40 + t; // SIDE 1
        __threadfence();
        flag[t] = 1; // NEVER
    } else {
        while (!flag[t]) { // NEVER
        }
        if constexpr (FIXED)
            __threadfence(); // FIX
        out[t] = letter[t]; // SIDE 1
    }
}

static int test(bool fixed)
{
    const int n = 64;
    Buffer<int> letter(n), flag(n), out(n);
    LAUNCH(pass, 2, n, letter, flag, out);
    return count_wrong(out.host(), [](size_t i) { return 40 + i; });
}

CORPUS_MAIN(test)
