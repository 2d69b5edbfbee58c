// SPDX-License-Identifier: Apache-2.0
// Double-checked initialization: look at a flag first, and take the lock only if it is not set.
// RACE 1: read-write race, global, can-overlap -- the first look is a plain load, and the flag is stored under the lock
// RACE 2: read-write race, global, missing-order -- who sees the flag early has no order to the table's stores
// RACE 3: read-write race, global, can-overlap -- the second look is an atomicAdd of 0, which writes
// FIXED: the flag is released and acquired
#include "../corpus.h"

template <bool FIXED> __global__ void lookup(int *lock, int *flag, int *table, int *out) {
    if (threadIdx.x != 0) {
        return;
    }
    bool there;
    if constexpr (FIXED) {
        there = atomicAdd(flag, 0) != 0; // FIX
        __threadfence();
    } else {
        there = *flag; // SIDE 1 3
    }
    if (!there) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        if (atomicAdd(flag, 0) == 0) { // SIDE 3
            table[0] = 11; // SIDE 2
            __threadfence();
            if constexpr (FIXED)
                atomicExch(flag, 1);
            else
                *flag = 1; // SIDE 1
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    out[blockIdx.x] = table[0]; // SIDE 2
}

static int test(bool fixed) {
    Buffer<int> lock(1), flag(1), table(1), out(6);
    LAUNCH(lookup, 6, 32, lock, flag, table, out);
    return count_wrong(out.host(), [](int) { return 11; });
}

CORPUS_MAIN(test)
