// SPDX-License-Identifier: Apache-2.0
// A ring between a producer and a consumer block: the producer says that an item is there before it is.
// RACE 1: read-write race, global, can-overlap -- the item is written after the head that announces it
// FIXED: item first, then a fence, then the head
#include "../corpus.h"

enum { ITEMS = 12, SLOTS = 4 };

#define FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")

template <bool FIXED> __global__ void stream(volatile int *head, volatile int *tail, int *ring, int *out)
{
    if (blockIdx.x == 0) {
        for (int k = 0; k < ITEMS; k++) {
            while (k - *tail >= SLOTS) { // NEVER
            }
            FENCE();
            if constexpr (FIXED) {
                ring[k % SLOTS] = k * k; // FIX
                FENCE();
                *head = k + 1;
            } else {
                *head = k + 1;           // NEVER
                ring[k % SLOTS] = k * k; // SIDE 1
            }
        }
    } else {
        for (int k = 0; k < ITEMS; k++) {
            while (*head <= k) { // NEVER
            }
            FENCE();
            out[k] = ring[k % SLOTS]; // SIDE 1
            FENCE();
            *tail = k + 1; // NEVER
        }
    }
}

static int test(bool fixed)
{
    Buffer<int> head(1), tail(1), ring(SLOTS), out(ITEMS);
    LAUNCH(stream, 2, 1, head, tail, ring, out);
    return count_wrong(out.host(), [](size_t i) { return i * i; });
}

CORPUS_MAIN(test)
