// SPDX-License-Identifier: Apache-2.0
// A lock for many readers or one writer: the state counts readers, and a writer makes it negative.
// RACE 1: read-write race, global, can-overlap -- a reader that only looks whether somebody writes does not keep writers out
// RACE 2: read-write race, global, can-overlap -- likewise, the other half
// FIXED: the reader is counted in and out
#include "../corpus.h"

#define FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")

template <bool FIXED> __global__ void work(int *state, int *record, int *torn)
{
    if (blockIdx.x < 2) {
        while (atomicCAS(state, 0, -1)) { // NEVER
        }
        FENCE();
        record[0] += 1; // SIDE 1
        record[1] += 1; // SIDE 2
        FENCE();
        atomicExch(state, 0); // NEVER
    } else {
        int seen;
        if constexpr (FIXED) {
            do
                seen = atomicAdd(state, 0);
            while (seen < 0 || atomicCAS(state, seen, seen + 1) != seen); // FIX
        } else {
            while (atomicAdd(state, 0) < 0) { // NEVER
            }
        }
        FENCE();
        int first = record[0];               // SIDE 1
        torn[blockIdx.x] = record[1] != first; // SIDE 2
        FENCE();
        if constexpr (FIXED)
            atomicSub(state, 1); // FIX
    }
}

static int test(bool fixed)
{
    Buffer<int> state(1), record(2), torn(5);
    LAUNCH(work, 5, 1, state, record, torn);
    return count_wrong(torn.host(), [](size_t) { return 0; }) + count_wrong(record.host(), [](size_t) { return 2; });
}

CORPUS_MAIN(test)
