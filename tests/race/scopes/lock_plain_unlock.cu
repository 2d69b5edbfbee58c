// SPDX-License-Identifier: Apache-2.0
// A lock that is given back by a plain store. It works where stores of a word are atomic anyway; by PTX a weak store
// races with the atomics of those who wait, and hands nothing on.
// RACE 1: write-write race, global, can-overlap -- a weak store and an atomic that may write
// RACE 2: read-write race, global, missing-order -- a weak store releases nothing
// RACE 3: write-write race, global, missing-order -- likewise
// RACE 4: write-write race|same-value write, global, can-overlap -- nothing orders two unlockings either, and who sees the lock free may take it and give it back while the store is under way
// FIXED: atomicExch
#include "../corpus.h"

template <bool FIXED> __global__ void add(int *lock, int *sum)
{
    while (atomicCAS(lock, 0, 1)) { // SIDE 1
    }
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    *sum += blockIdx.x + 1; // SIDE 2 3
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if constexpr (FIXED)
        atomicExch(lock, 0); // FIX
    else
        *lock = 0; // SIDE 1 4
}

static int test(bool fixed)
{
    Buffer<int> lock(1), sum(1);
    LAUNCH(add, 8, 1, lock, sum);
    return count_wrong(sum.host(), [](size_t) { return 36; });
}

CORPUS_MAIN(test)
