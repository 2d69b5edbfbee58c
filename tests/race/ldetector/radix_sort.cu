// SPDX-License-Identifier: Apache-2.0
// radix sort (LDetector, tables V and VI; CUDA SDK): one warp splits its keys bit by bit. The paper counts it as free
// of races for a warp's lockstep; lanes are scheduled independently by now, and PTX promises no lockstep.
// RACE 1: read-write race, shared, can-overlap -- a lane takes a key that another lane was to put there, unordered
// RACE 2: write-write race|same-value write, shared, missing-order -- the vote between two passes orders no memory
// FIXED: __syncwarp before the keys are taken, and before the next ones are put there
#include "../corpus.h"

template <bool FIXED> __global__ void sort(int *key) {
    __shared__ int sorted[32];
    int t = threadIdx.x, mine = key[t];
    for (int bit = 0; bit < 6; bit++) {
        unsigned ones = __ballot_sync(0xffffffffu, mine >> bit & 1), below = (1u << t) - 1;
        int place = __popc(~ones & below);
        if (mine >> bit & 1) {
            place = __popc(~ones) + __popc(ones & below);
        }
        if constexpr (FIXED) __syncwarp(); // FIX
        sorted[place] = mine;              // SIDE 1 2
        if constexpr (FIXED) __syncwarp(); // FIX
        mine = sorted[t];                  // SIDE 1
    }
    key[t] = mine; // NEVER
}

static int test(bool fixed) {
    std::vector<int> keys(32);
    for (int i = 0; i < 32; i++) {
        keys[i] = 63 - i * 2;
    }
    Buffer<int> key(keys);
    LAUNCH(sort, 1, 32, key);
    return count_wrong(key.host(), [](int i) { return 2 * i + 1; });
}

CORPUS_MAIN(test)
