// SPDX-License-Identifier: Apache-2.0
// A lock whose atomics have block scope guards a sum of all blocks (ScoRD; iGUARD, table 4, type AS). The hardware may
// keep such a lock in each SM's own cache: two blocks can hold it at once.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- each block sees a lock of its own
// RACE 2: read-write race, global, missing-order -- so nothing orders the sum, though where atomics work in spite of their scope they keep the blocks apart
// RACE 3: write-write race, global, missing-order -- likewise
// RACE 4: insufficient scope, global, can-overlap, scope cta -- two that take it
// RACE 5: insufficient scope, global, can-overlap, scope cta -- two that give it back
// FIXED: atomics of the device's scope
#include "../corpus.h"

template <bool FIXED> __global__ void add(int *lock, int *sum)
{
    if constexpr (FIXED) {
        while (atomicCAS(lock, 0, 1)) { // FIX
        }
    } else {
        while (atomicCAS_block(lock, 0, 1)) { // SIDE 1 4
        }
    }
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    *sum += blockIdx.x + 1; // SIDE 2 3
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if constexpr (FIXED)
        atomicExch(lock, 0); // FIX
    else
        atomicExch_block(lock, 0); // SIDE 1 5
}

static int test(bool fixed)
{
    Buffer<int> lock(1), sum(1);
    LAUNCH(add, 6, 1, lock, sum);
    return count_wrong(sum.host(), [](size_t) { return 21; });
}

CORPUS_MAIN(test)
