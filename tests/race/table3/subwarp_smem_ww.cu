// SPDX-License-Identifier: Apache-2.0
// Inter-subwarp SMEM WW (SuperCollider, table 3): the two halves of a diverged warp write to the same words.
// RACE 1: write-write race, shared, can-overlap -- nothing orders the two branches of one warp
// FIXED: a __syncwarp between them, so that the upper half's stores come last
#include "../corpus.h"

template <bool FIXED> __global__ void halves(int *out) {
    __shared__ int word[16];
    int lane = threadIdx.x;
    if (lane < 16) {
        word[lane] = -lane; // SIDE 1
    }
    if constexpr (FIXED) __syncwarp(); // FIX
    if (lane >= 16) {
        word[lane - 16] = lane; // SIDE 1
    }
    __syncthreads();
    if (lane < 16) {
        out[lane] = word[lane];
    }
}

static int test(bool fixed) {
    Buffer<int> out(16);
    LAUNCH(halves, 1, 32, out);
    return count_wrong(out.host(), [](int i) { return 16 + i; });
}

CORPUS_MAIN(test)
