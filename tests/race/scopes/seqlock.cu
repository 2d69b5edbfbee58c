// SPDX-License-Identifier: Apache-2.0
// A sequence lock: readers read without a lock and try again if the count changed meanwhile. What they read while it changes
// must be read by strong operations, even if it is thrown away.
// RACE 1: read-write race, global, can-overlap -- weak loads of data that is being written
// RACE 2: read-write race, global, can-overlap -- likewise, the other half
// FIXED: the data is read and written by relaxed operations
#include "../corpus.h"

enum { ROUNDS = 4 };

#define FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")

template <bool FIXED> __global__ void work(volatile int *count, int *record, int *torn)
{
    volatile int *strong = record;
    int before, first, second;
    if (blockIdx.x == 0) {
        for (int k = 1; k <= ROUNDS; k++) {
            *count = 2 * k - 1; // NEVER
            FENCE();
            if constexpr (FIXED) {
                strong[0] = k; // FIX
                strong[1] = -k;
            } else {
                record[0] = k;  // SIDE 1
                record[1] = -k; // SIDE 2
            }
            FENCE();
            *count = 2 * k; // NEVER
        }
        return;
    }
    do {
        before = *count; // NEVER
        FENCE();
        if constexpr (FIXED) {
            first = strong[0]; // FIX
            second = strong[1];
        } else {
            first = record[0];  // SIDE 1
            second = record[1]; // SIDE 2
        }
        FENCE();
    } while (before % 2 || *count != before);
    torn[blockIdx.x] = first + second;
}

static int test(bool fixed)
{
    Buffer<int> count(1), record(2), torn(4);
    LAUNCH(work, 4, 1, count, record, torn);
    return count_wrong(torn.host(), [](size_t) { return 0; });
}

CORPUS_MAIN(test)
