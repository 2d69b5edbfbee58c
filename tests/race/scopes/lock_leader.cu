// SPDX-License-Identifier: Apache-2.0
// One lane takes the lock for its warp, and then all lanes work on what it guards. The lock keeps other warps out,
// not the leader's own lanes from each other.
// RACE 1: read-write race, global, can-overlap -- the lanes of a warp are not excluded by a lock that their leader holds
// RACE 2: write-write race|same-value write, global, can-overlap -- likewise
// FIXED: the lanes add up what they have, and the leader alone touches the sum
#include "../corpus.h"

template <bool FIXED> __global__ void add(int *lock, int *sum)
{
    int lane = threadIdx.x % 32, mine = lane + 1;
    if (lane == 0) {
        while (atomicCAS(lock, 0, 1)) { // NEVER
        }
        __threadfence();
    }
    __syncwarp();
    if constexpr (FIXED) {
        mine = __reduce_add_sync(~0u, mine); // FIX
        if (lane == 0)
            *sum += mine; // FIX
    } else {
        *sum += mine; // SIDE 1 2
    }
    __syncwarp();
    if (lane == 0) {
        __threadfence();
        atomicExch(lock, 0); // NEVER
    }
}

static int test(bool fixed)
{
    Buffer<int> lock(1), sum(1);
    LAUNCH(add, 2, 64, lock, sum);
    return count_wrong(sum.host(), [](size_t) { return 4 * 528; });
}

CORPUS_MAIN(test)
