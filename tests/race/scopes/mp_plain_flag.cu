// SPDX-License-Identifier: Apache-2.0
// Message passing with fences on both sides, but the flag goes up by a plain store. The reader's loop is volatile,
// so the program works on every GPU; by PTX the store races with it, and releases nothing.
// (The fences are acq_rel: __threadfence() is fence.sc, and two of them may order the letter without the flag.)
// RACE 1: read-write race, global, can-overlap -- the flag's store is weak, and nothing orders it and the loop
// RACE 2: read-write race, global, missing-order -- a weak store cannot release the letter
// FIXED: the flag is stored as volatile
#include "../corpus.h"

#define FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")

template <bool FIXED> __global__ void pass(int *letter, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *letter = 42; // SIDE 2
        FENCE();
        if constexpr (FIXED)
            *(volatile int *)flag = 1; // FIX
        else
            *flag = 1; // SIDE 1
    } else {
        while (!*(volatile int *)flag) { // SIDE 1
        }
        FENCE();
        *out = *letter; // SIDE 2
    }
}

static int test(bool fixed)
{
    Buffer<int> letter(1), flag(1), out(1);
    LAUNCH(pass, 2, 1, letter, flag, out);
    return count_wrong(out.host(), [](size_t) { return 42; });
}

CORPUS_MAIN(test)
