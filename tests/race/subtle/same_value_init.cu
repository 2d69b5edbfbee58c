// SPDX-License-Identifier: Apache-2.0
// Every thread initializes the block's counter with the same zero: it looks benign, and works on the hardware that there is.
// RACE 1: same-value write, shared, can-overlap -- unordered weak stores race whatever they store
// FIXED: one thread stores
#include "../corpus.h"

template <bool FIXED> __global__ void count(int *out) {
    __shared__ int counter;
    if (!FIXED || threadIdx.x == 0) { // FIX
        counter = 0; // SIDE 1
    }
    __syncthreads();
    atomicAdd(&counter, 1); // NEVER
    __syncthreads();
    if (threadIdx.x == 0) {
        *out = counter; // NEVER
    }
}

static int test(bool fixed) {
    Buffer<int> out(1);
    LAUNCH(count, 1, 64, out);
    return out.host()[0] != 64;
}

CORPUS_MAIN(test)
