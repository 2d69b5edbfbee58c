// SPDX-License-Identifier: Apache-2.0
// Writers hold the lock; a reader looks at the two halves of a record without it.
// RACE 1: read-write race, global, can-overlap -- the lock excludes only those who take it
// RACE 2: read-write race, global, can-overlap -- likewise, the other half
// FIXED: the reader takes the lock too
#include "../corpus.h"

__device__ void take(int *lock)
{
    while (atomicCAS(lock, 0, 1)) { // NEVER
    }
    __threadfence();
}

__device__ void give(int *lock)
{
    __threadfence();
    atomicExch(lock, 0); // NEVER
}

template <bool FIXED> __global__ void transfer(int *lock, int *halves, int *out)
{
    if (blockIdx.x) {
        take(lock);
        halves[0] -= 1; // SIDE 1
        halves[1] += 1; // SIDE 2
        give(lock);
    } else {
        if constexpr (FIXED)
            take(lock); // FIX
        int first = halves[0];       // SIDE 1
        *out = first + halves[1];    // SIDE 2
        if constexpr (FIXED)
            give(lock); // FIX
    }
}

static int test(bool fixed)
{
    Buffer<int> lock(1), halves(2), out(1);
    LAUNCH(transfer, 6, 1, lock, halves, out);
    return count_wrong(out.host(), [](size_t) { return 0; });
}

CORPUS_MAIN(test)
