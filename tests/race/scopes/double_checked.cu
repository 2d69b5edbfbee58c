// SPDX-License-Identifier: Apache-2.0
// Double-checked initialization: whoever comes first fills a table under a lock, the others look at a flag before they take
// it. The look outside of the lock must acquire.
// RACE 1: read-write race, global, missing-order -- those who see the flag up do not acquire what was written before it
// FIXED: a fence after the first look
#include "../corpus.h"

#define FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")

template <bool FIXED> __global__ void use(int *lock, volatile int *ready, int *table, int *out)
{
    for (int k = 0; k < 4; k++) {
        if (!*ready) { // NEVER
            while (atomicCAS(lock, 0, 1)) { // NEVER
            }
            FENCE();
            if (!*ready) { // NEVER
                *table = 17; // SIDE 1
                FENCE();
                *ready = 1; // NEVER
            }
            FENCE();
            atomicExch(lock, 0); // NEVER
        } else {
            if constexpr (FIXED)
                FENCE(); // FIX
        }
        out[blockIdx.x * 4 + k] = *(volatile int *)table; // SIDE 1
        __nanosleep(1000);
    }
}

static int test(bool fixed)
{
    Buffer<int> lock(1), ready(1), table(1), out(16);
    LAUNCH(use, 4, 1, lock, ready, table, out);
    return count_wrong(out.host(), [](size_t) { return 17; });
}

CORPUS_MAIN(test)
