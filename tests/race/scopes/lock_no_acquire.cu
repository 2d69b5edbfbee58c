// SPDX-License-Identifier: Apache-2.0
// A spin lock with a fence before it is given back, and none after it was taken.
// RACE 1: read-write race, global, missing-order -- the release is there, the acquire is not
// RACE 2: write-write race|same-value write, global, missing-order -- likewise, the two stores
// FIXED: a fence after the lock was taken
#include "../corpus.h"

template <bool FIXED> __global__ void largest(int *lock, int *most, const int *in)
{
    int mine = in[blockIdx.x];
    while (atomicCAS(lock, 0, 1)) { // NEVER
    }
    if constexpr (FIXED)
        asm volatile("fence.acq_rel.gpu;" ::: "memory"); // FIX
    int seen = *most;                                    // SIDE 1
    *most = seen > mine ? seen : mine;                   // SIDE 1 2
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    atomicExch(lock, 0); // NEVER
}

static int test(bool fixed)
{
    Buffer<int> lock(1), most(1), in(std::vector<int>{3, 1, 4, 1, 5, 9, 2, 6});
    LAUNCH(largest, 8, 1, lock, most, in);
    return count_wrong(most.host(), [](size_t) { return 9; });
}

CORPUS_MAIN(test)
