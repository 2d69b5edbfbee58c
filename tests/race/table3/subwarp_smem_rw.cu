// SPDX-License-Identifier: Apache-2.0
// Inter-subwarp SMEM RW (SuperCollider, table 3): the two halves of a diverged warp, one writes what the other reads.
// RACE 1: read-write race, shared, can-overlap -- the halves run apart, and only __syncwarp would bring them together
// FIXED: the writing half is done before a __syncwarp that both reach
#include "../corpus.h"

template <bool FIXED> __global__ void halves(int *out) {
    __shared__ int word[16];
    int lane = threadIdx.x;
    if (lane < 16) {
        word[lane] = lane + 1; // SIDE 1
    }
    if constexpr (FIXED) __syncwarp(); // FIX
    if (lane >= 16) {
        out[lane - 16] = word[31 - lane]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> out(16);
    LAUNCH(halves, 1, 32, out);
    return count_wrong(out.host(), [](int i) { return 16 - i; });
}

CORPUS_MAIN(test)
