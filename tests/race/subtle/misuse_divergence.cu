// SPDX-License-Identifier: Apache-2.0
// __syncthreads() in both branches: each thread passes one, but lanes of one warp wait at different instructions.
// MISUSE 1: barrier divergence -- an aligned barrier wants all threads of the warp at the same instruction
// FIXED: the branches are by warp
#include "../corpus.h"

template <bool FIXED> __global__ void branches(int *out) {
    __shared__ int cell[64];
    int t = threadIdx.x;
    bool left = FIXED ? t < 32 : t % 2 == 0; // FIX
    if (left) {
        cell[t] = 3 * t;
        asm volatile("bar.sync 0; // the left branch's" ::: "memory"); // SIDE 1
    } else {
        cell[t] = 5 * t;
        asm volatile("bar.sync 0; // the right branch's" ::: "memory"); // SIDE 1
    }
    out[t] = cell[63 - t]; // NEVER
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(branches, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return (63 - i) * (63 - i < 32 ? 3 : 5); });
}

CORPUS_MAIN(test)
