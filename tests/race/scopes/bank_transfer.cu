// SPDX-License-Identifier: Apache-2.0
// Transfers between accounts, each with a lock (Kilo-TM's interac; iGUARD, table 4): money is taken out under the lock of the one
// and paid in under the same.
// RACE 1: read-write race, global, can-overlap -- paying in without the lock of that account
// RACE 2: write-write race|same-value write, global, can-overlap -- likewise
// RACE 3: read-write race, global, can-overlap -- paying in and taking out
// RACE 4: write-write race|same-value write, global, can-overlap -- paying in and taking out
// FIXED: each account under its own lock
#include "../corpus.h"

enum { ACCOUNTS = 4 };

__device__ void take(int *lock)
{
    while (atomicCAS(lock, 0, 1)) {
    }
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

__device__ void give(int *lock)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    atomicExch(lock, 0);
}

template <bool FIXED> __global__ void transfer(int *locks, int *money)
{
    int from = blockIdx.x % ACCOUNTS, to = (from + 1 + blockIdx.x / ACCOUNTS) % ACCOUNTS;
    take(&locks[from]);
    money[from] -= 5; // SIDE 3 4
    if constexpr (FIXED) {
        give(&locks[from]); // FIX
        take(&locks[to]);
    }
    money[to] += 5; // SIDE 1 2 3 4
    give(&locks[FIXED ? to : from]);
}

static int test(bool fixed)
{
    Buffer<int> locks(ACCOUNTS), money(ACCOUNTS);
    LAUNCH(transfer, 12, 1, locks, money);
    return count_wrong(money.host(), [](size_t) { return 0; });
}

CORPUS_MAIN(test)
