// SPDX-License-Identifier: Apache-2.0
// The lanes vote, and the lowest that wants to writes for all. The racy one elects among the lanes of a half.
// RACE 1: write-write race, shared, can-overlap -- two lanes are elected, one of each half
// FIXED: one leader for the warp
#include "../corpus.h"

template <bool FIXED> __global__ void elect(int *out) {
    __shared__ int winner;
    int lane = threadIdx.x;
    unsigned wants = __ballot_sync(~0u, lane % 5 == 3);
    if constexpr (!FIXED) wants &= lane < 16 ? 0x0000ffff : 0xffff0000; // FIX: not in the twin
    if (lane == __ffs(wants) - 1) {
        winner = lane; // SIDE 1
    }
    __syncwarp();
    out[lane] = winner; // NEVER
}

static int test(bool fixed) {
    Buffer<int> out(32);
    LAUNCH(elect, 1, 32, out);
    return count_wrong(out.host(), [](int) { return 3; });
}

CORPUS_MAIN(test)
