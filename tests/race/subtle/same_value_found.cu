// SPDX-License-Identifier: Apache-2.0
// A search sets `found` to 1 from every thread that found something, in several blocks.
// RACE 1: same-value write, global, can-overlap -- all store the same 1, weakly
// FIXED: the stores are atomic
#include "../corpus.h"

template <bool FIXED> __global__ void search(const int *in, int *found) {
    if (in[blockIdx.x * blockDim.x + threadIdx.x] == 7) {
        if constexpr (FIXED)
            atomicExch(found, 1); // FIX
        else
            *found = 1; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> values;
    for (int i = 0; i < 128; i++) {
        values.push_back(i % 13);
    }
    Buffer<int> in(values), found(1);
    LAUNCH(search, 2, 64, in, found);
    return found.host()[0] != 1;
}

CORPUS_MAIN(test)
