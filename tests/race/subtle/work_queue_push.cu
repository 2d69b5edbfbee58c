// SPDX-License-Identifier: Apache-2.0
// A persistent kernel whose items make new items: a place is reserved with one counter, and published with a flag of its own.
// RACE 1: read-write race, global, can-overlap -- the item is read as soon as its place is reserved, before it is filled
// FIXED: the reader waits for the flag that is released after the item
#include "../corpus.h"

template <bool FIXED> __global__ void grow(int *queue, int *tail, int *ready, int *done, int limit) {
    if (threadIdx.x != 0) {
        return;
    }
    for (int i = blockIdx.x; i < limit; i += gridDim.x) {
        while (atomicAdd(tail, 0) <= i) {
        }
        if constexpr (FIXED) {
            while (atomicAdd(&ready[i], 0) == 0) { // FIX
            }
            __threadfence();
        }
        int value = queue[i]; // SIDE 1
        for (int child = 2 * i + 1; child <= 2 * i + 2 && child < limit; child++) {
            int place = atomicAdd(tail, 1);
            queue[place] = value + 1; // SIDE 1
            __threadfence();
            atomicExch(&ready[place], 1);
        }
        atomicAdd(done, 1);
    }
}

static int test(bool fixed) {
    Buffer<int> queue(16), tail(std::vector<int>(1, 1)), ready(std::vector<int>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    Buffer<int> done(1);
    LAUNCH(grow, 2, 32, queue, tail, ready, done, 15);
    return done.host()[0] != 15 || tail.host()[0] != 15;
}

CORPUS_MAIN(test)
