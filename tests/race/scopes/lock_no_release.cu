// SPDX-License-Identifier: Apache-2.0
// A spin lock with a fence after it was taken, and none before it is given back.
// RACE 1: read-write race, global, missing-order -- the acquire is there, the release is not
// RACE 2: write-write race, global, missing-order -- likewise
// FIXED: a fence before the lock is given back
#include "../corpus.h"

template <bool FIXED> __global__ void add(int *lock, int *sum)
{
    while (atomicCAS(lock, 0, 1)) { // NEVER
    }
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    *sum += blockIdx.x + 1; // SIDE 1 2
    if constexpr (FIXED)
        asm volatile("fence.acq_rel.gpu;" ::: "memory"); // FIX
    atomicExch(lock, 0);                                 // NEVER
}

static int test(bool fixed)
{
    Buffer<int> lock(1), sum(1);
    LAUNCH(add, 8, 1, lock, sum);
    return count_wrong(sum.host(), [](size_t) { return 36; });
}

CORPUS_MAIN(test)
