// SPDX-License-Identifier: Apache-2.0
// One lane takes the lock for its warp, the others of the warp go ahead without waiting for it: since Volta a warp's lanes
// do not run in lockstep (iGUARD, section 3.2, and table 4, type ITS).
// RACE 1: read-write race, global, can-overlap -- nothing makes the lanes wait for their leader to have the lock
// RACE 2: write-write race|same-value write, global, can-overlap -- likewise
// FIXED: __syncwarp() after taking and before giving back
#include "../corpus.h"

template <bool FIXED> __global__ void shift(int *lock, int *row)
{
    int lane = threadIdx.x % 32;
    if (lane == 0) {
        while (atomicCAS(lock, 0, 1)) { // NEVER
        }
        __threadfence();
    }
    if constexpr (FIXED)
        __syncwarp(); // FIX
    int mine = row[(lane + 1) % 32]; // SIDE 1
    __syncwarp();
    row[lane] = mine + 1; // SIDE 1 2
    if constexpr (FIXED)
        __syncwarp(); // FIX
    if (lane == 0) {
        __threadfence();
        atomicExch(lock, 0); // NEVER
    }
}

static int test(bool fixed)
{
    Buffer<int> lock(1), row(32);
    LAUNCH(shift, 2, 64, lock, row);
    return count_wrong(row.host(), [](size_t) { return 4; });
}

CORPUS_MAIN(test)
