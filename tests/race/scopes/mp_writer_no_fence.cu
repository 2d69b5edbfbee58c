// SPDX-License-Identifier: Apache-2.0
// Message passing between blocks (iGUARD, section 3.1: a fence is missing on the side that writes): a flag that is
// volatile goes up before anything says that the letter is to be seen first.
// RACE 1: read-write race, global, missing-order -- no fence between the letter and the flag: nothing is released
// FIXED: a fence of the device's scope before the flag
#include "../corpus.h"

template <bool FIXED> __global__ void pass(int *letter, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *letter = 42; // SIDE 1
        if constexpr (FIXED)
            __threadfence(); // FIX
        *flag = 1; // NEVER
    } else {
        while (!*flag) { // NEVER
        }
        __threadfence();
        *out = *letter; // SIDE 1
    }
}

static int test(bool fixed)
{
    Buffer<int> letter(1), flag(1), out(1);
    LAUNCH(pass, 2, 1, letter, flag, out);
    return count_wrong(out.host(), [](size_t) { return 42; });
}

CORPUS_MAIN(test)
