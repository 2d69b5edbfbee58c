// SPDX-License-Identifier: Apache-2.0
// The litmus test IRIW (independent reads of independent writes): two blocks write, two read both in opposite orders.
// RACE 1: read-write race, global, can-overlap -- weak accesses to x
// RACE 2: read-write race, global, can-overlap -- weak accesses to y
// RACE 3: read-write race, global, can-overlap -- weak accesses to x, the other reader
// RACE 4: read-write race, global, can-overlap -- weak accesses to y, the other reader
// FIXED: relaxed accesses with fence.sc between them, under which the readers agree
#include "../corpus.h"

template <bool FIXED> __global__ void iriw(int *x, int *y, int *out)
{
    volatile int *sx = x, *sy = y; // the strong way
    switch (blockIdx.x) {
    case 0:
        if constexpr (FIXED)
            *sx = 1; // FIX
        else
            *x = 1; // SIDE 1 3
        break;
    case 1:
        if constexpr (FIXED)
            *sy = 1; // FIX
        else
            *y = 1; // SIDE 2 4
        break;
    case 2:
        out[0] = FIXED ? *sx : *x; // SIDE 1
        __threadfence();
        out[1] = FIXED ? *sy : *y; // SIDE 2
        break;
    case 3:
        out[2] = FIXED ? *sy : *y; // SIDE 4
        __threadfence();
        out[3] = FIXED ? *sx : *x; // SIDE 3
        break;
    }
}

static int test(bool fixed)
{
    Buffer<int> x(1), y(1), out(4);
    LAUNCH(iriw, 4, 1, x, y, out);
    std::vector<int> r = out.host();
    return r[0] && !r[1] && r[2] && !r[3];
}

CORPUS_MAIN(test)
