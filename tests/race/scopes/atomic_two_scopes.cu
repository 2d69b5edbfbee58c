// SPDX-License-Identifier: Apache-2.0
// One side uses the device's scope, the other the block's: two atomics are atomic for each other only when the scope of
// each includes the other.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- the narrow atomic does not include the other block
// FIXED: both with the device's scope
#include "../corpus.h"

template <bool FIXED> __global__ void tally(int *total)
{
    if (blockIdx.x == 0) {
        if constexpr (FIXED)
            atomicAdd(total, 1); // FIX
        else
            atomicAdd_block(total, 1); // SIDE 1
    } else {
        atomicAdd(total, 100); // SIDE 1
    }
}

static int test(bool fixed)
{
    Buffer<int> total(1);
    LAUNCH(tally, 3, 32, total);
    return count_wrong(total.host(), [](size_t) { return 32 + 6400; });
}

CORPUS_MAIN(test)
