// SPDX-License-Identifier: Apache-2.0
// Each half of a warp synchronizes by itself; in the racy one both halves name the lower half.
// MISUSE 1: mask without the caller -- the upper lanes wait with a mask that does not name them
// FIXED: each half names itself
#include "../corpus.h"

template <bool FIXED> __global__ void halves(int *out) {
    __shared__ int cell[16];
    int lane = threadIdx.x;
    if (lane < 16) {
        cell[lane] = lane + 1;
        __syncwarp(0x0000ffff);
        out[lane] = cell[15 - lane]; // NEVER
    } else {
        __syncwarp(FIXED ? 0xffff0000 : 0x0000ffff); // SIDE 1, FIX
        out[lane] = lane;
    }
}

static int test(bool fixed) {
    Buffer<int> out(32);
    LAUNCH(halves, 1, 32, out);
    return count_wrong(out.host(), [](int i) { return i < 16 ? 16 - i : i; });
}

CORPUS_MAIN(test)
