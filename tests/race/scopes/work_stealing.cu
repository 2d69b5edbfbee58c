// SPDX-License-Identifier: Apache-2.0
// Work stealing as in ScoRD's uts and in iGUARD's figure 3: each block takes from its own queue with atomics of block scope, and
// from a neighbour's when its own is empty. The thief's atomic is wide, the owner's is not.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- the owner's atomic does not include the thief
// FIXED: the owner's atomics have the device's scope too
#include "../corpus.h"

enum { ITEMS = 6 };

template <bool FIXED> __global__ void work(int *head, int *done)
{
    int own = blockIdx.x, other = (blockIdx.x + 1) % gridDim.x;
    for (;;) {
        int k;
        if constexpr (FIXED)
            k = atomicAdd(&head[own], 1); // FIX
        else
            k = atomicAdd_block(&head[own], 1); // SIDE 1
        if (k >= ITEMS)
            break;
        atomicAdd(&done[own * ITEMS + k], 1); // NEVER
    }
    int k = atomicAdd(&head[other], 1); // SIDE 1
    if (k < ITEMS)
        atomicAdd(&done[other * ITEMS + k], 1); // NEVER
}

static int test(bool fixed)
{
    Buffer<int> head(3), done(3 * ITEMS);
    LAUNCH(work, 3, 2, head, done);
    return count_wrong(done.host(), [](size_t) { return 1; });
}

CORPUS_MAIN(test)
