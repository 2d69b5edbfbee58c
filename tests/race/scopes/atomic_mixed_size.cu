// SPDX-License-Identifier: Apache-2.0
// A pair of 32-bit counters that one side increments together, by one 64-bit atomic, and the other one by one.
// RACE 1: mixed-size race, global, can-overlap -- atomics of different sizes are not atomic for each other
// FIXED: 64-bit atomics on both sides
#include "../corpus.h"

template <bool FIXED> __global__ void count(unsigned long long *pair)
{
    if (threadIdx.x % 2)
        atomicAdd(pair, (1ull << 32) + 1); // SIDE 1
    else if constexpr (FIXED)
        atomicAdd(pair, 1ull); // FIX
    else
        atomicAdd((unsigned *)pair, 1u); // SIDE 1
}

static int test(bool fixed)
{
    Buffer<unsigned long long> pair(1);
    LAUNCH(count, 2, 64, pair);
    return count_wrong(pair.host(), [](size_t) { return (64ull << 32) + 128; });
}

CORPUS_MAIN(test)
