// SPDX-License-Identifier: Apache-2.0
// A spin lock made of relaxed atomics only (iGUARD, section 3.1 and table 4, type IL: improper locking). Mutual
// exclusion holds, but what the one wrote inside need not be seen by the next.
// RACE 1: read-write race, global, missing-order -- relaxed atomics order nothing but the lock itself
// RACE 2: write-write race, global, missing-order -- likewise
// FIXED: fences after acquiring and before releasing
#include "../corpus.h"

template <bool FIXED> __global__ void add(int *lock, int *sum)
{
    while (atomicCAS(lock, 0, 1)) { // NEVER
    }
    if constexpr (FIXED)
        __threadfence(); // FIX
    *sum += blockIdx.x + 1; // SIDE 1 2
    if constexpr (FIXED)
        __threadfence(); // FIX
    atomicExch(lock, 0); // NEVER
}

static int test(bool fixed)
{
    Buffer<int> lock(1), sum(1);
    LAUNCH(add, 8, 1, lock, sum);
    return count_wrong(sum.host(), [](size_t) { return 36; });
}

CORPUS_MAIN(test)
