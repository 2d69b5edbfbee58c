// SPDX-License-Identifier: Apache-2.0
// A ring between two warps of a block. Items are released properly, free slots are not: the consumer does not say that
// it has read before it moves the tail.
// RACE 1: read-write race, shared, missing-order -- the producer overwrites a slot that it does not know to have been read
// FIXED: a fence before the tail is moved
#include "../corpus.h"

enum { ITEMS = 12, SLOTS = 2 };

#define FENCE() asm volatile("fence.acq_rel.cta;" ::: "memory")

template <bool FIXED> __global__ void stream(int *out)
{
    __shared__ volatile int head, tail;
    __shared__ int ring[SLOTS];
    if (threadIdx.x == 0)
        head = tail = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 0; k < ITEMS; k++) {
            while (k - tail >= SLOTS) { // NEVER
            }
            FENCE();
            ring[k % SLOTS] = k * k; // SIDE 1
            FENCE();
            head = k + 1; // NEVER
        }
    } else if (threadIdx.x == 32) {
        for (int k = 0; k < ITEMS; k++) {
            while (head <= k) { // NEVER
            }
            FENCE();
            out[blockIdx.x * ITEMS + k] = ring[k % SLOTS]; // SIDE 1
            if constexpr (FIXED)
                FENCE(); // FIX
            tail = k + 1; // NEVER
        }
    }
}

static int test(bool fixed)
{
    Buffer<int> out(2 * ITEMS);
    LAUNCH(stream, 2, 64, out);
    return count_wrong(out.host(), [](size_t i) { return (i % ITEMS) * (i % ITEMS); });
}

CORPUS_MAIN(test)
