// SPDX-License-Identifier: Apache-2.0
// Message passing between blocks with a fence of block scope on the reader's side.
// RACE 1: read-write race, global, missing-order -- __threadfence_block() acquires from its own block only
// FIXED: __threadfence()
#include "../corpus.h"

template <bool FIXED> __global__ void pass(int *letter, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *letter = 42; // SIDE 1
        __threadfence();
        atomicExch(flag, 1); // NEVER
    } else {
        while (!atomicAdd(flag, 0)) { // NEVER
        }
        if constexpr (FIXED)
            __threadfence(); // FIX
        else
            __threadfence_block();
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
