// SPDX-License-Identifier: Apache-2.0
// A counter of all blocks that is incremented by atomics of block scope (ScoRD's microbenchmarks; iGUARD, type AS).
// RACE 1: insufficient scope, global, can-overlap, scope cta -- atomic for one's own block only
// FIXED: atomicAdd
#include "../corpus.h"

template <bool FIXED> __global__ void count(int *counter)
{
    if constexpr (FIXED)
        atomicAdd(counter, 1); // FIX
    else
        atomicAdd_block(counter, 1); // SIDE 1
}

static int test(bool fixed)
{
    Buffer<int> counter(1);
    LAUNCH(count, 4, 64, counter);
    return count_wrong(counter.host(), [](size_t) { return 256; });
}

CORPUS_MAIN(test)
