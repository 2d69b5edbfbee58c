// SPDX-License-Identifier: Apache-2.0
// A barrier over the grid that its last arriver opens by setting the counter back, with a plain store, while the others
// poll it.
// RACE 1: write-write race, global, can-overlap -- a weak store and the atomics of those who wait
// FIXED: an atomic store
#include "../corpus.h"

template <bool FIXED> __global__ void meet(int *counter, int *out)
{
    int ticket = atomicAdd(counter, 1); // NEVER
    if (ticket == gridDim.x - 1) {
        if constexpr (FIXED)
            atomicExch(counter, 0); // FIX
        else
            *counter = 0; // SIDE 1
    } else {
        while (atomicAdd(counter, 0)) { // SIDE 1
        }
    }
    out[blockIdx.x] = ticket;
}

static int test(bool fixed)
{
    Buffer<int> counter(1), out(4);
    LAUNCH(meet, 4, 1, counter, out);
    int sum = 0;
    for (int ticket : out.host())
        sum += ticket;
    return sum != 6;
}

CORPUS_MAIN(test)
