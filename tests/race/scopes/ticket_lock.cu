// SPDX-License-Identifier: Apache-2.0
// A ticket lock: tickets by atomics, and the one who leaves calls the next number.
// RACE 1: read-write race, global, missing-order -- the number is called without a release
// RACE 2: write-write race, global, missing-order -- likewise
// RACE 3: read-write race, global, missing-order -- likewise
// FIXED: a fence before the next number is called
#include "../corpus.h"

template <bool FIXED> __global__ void append(int *tickets, volatile int *serving, int *length, int *list)
{
    int mine = atomicAdd(tickets, 1); // NEVER
    while (*serving != mine) { // NEVER
    }
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    list[*length] = mine; // SIDE 1
    *length += 1;         // SIDE 1 2 3
    if constexpr (FIXED)
        asm volatile("fence.acq_rel.gpu;" ::: "memory"); // FIX
    *serving = mine + 1; // NEVER
}

static int test(bool fixed)
{
    Buffer<int> tickets(1), serving(1), length(1), list(8);
    LAUNCH(append, 8, 1, tickets, serving, length, list);
    return count_wrong(list.host(), [](size_t i) { return i; });
}

CORPUS_MAIN(test)
