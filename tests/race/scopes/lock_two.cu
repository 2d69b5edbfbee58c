// SPDX-License-Identifier: Apache-2.0
// Everybody holds a lock, but not the same one: even blocks take the first, odd blocks the second.
// RACE 1: read-write race, global, can-overlap -- two locks exclude nobody
// RACE 2: write-write race|same-value write, global, can-overlap -- likewise
// FIXED: one lock
#include "../corpus.h"

template <bool FIXED> __global__ void add(int *locks, int *sum)
{
    int *lock = locks + (FIXED ? 0 : blockIdx.x % 2); // FIX
    int expected;
    do {
        asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(expected) : "l"(lock) : "memory");
    } while (expected);
    *sum += blockIdx.x + 1; // SIDE 1 2
    asm volatile("st.release.gpu.global.u32 [%0], 0;" ::"l"(lock) : "memory");
}

static int test(bool fixed)
{
    Buffer<int> locks(2), sum(1);
    LAUNCH(add, 8, 1, locks, sum);
    return count_wrong(sum.host(), [](size_t) { return 36; });
}

CORPUS_MAIN(test)
