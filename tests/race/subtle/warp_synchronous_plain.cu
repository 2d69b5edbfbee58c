// SPDX-License-Identifier: Apache-2.0
// A butterfly in one warp over shared memory. The lanes seem to run in lockstep; PTX gives them no order without __syncwarp.
// RACE 1: read-write race, shared, can-overlap -- the neighbour's store of the step before, or of this one
// FIXED: __syncwarp after reading and after writing
#include "../corpus.h"

template <bool FIXED> __global__ void butterfly(const int *in, int *out) {
    __shared__ int part[32];
    int t = threadIdx.x;
    part[t] = in[t]; // SIDE 1
    if constexpr (FIXED) __syncwarp(); // FIX
#pragma unroll 1
    for (int step = 16; step > 0; step /= 2) {
        int other = part[t ^ step]; // SIDE 1
        if constexpr (FIXED) __syncwarp();
        part[t] += other; // SIDE 1
        if constexpr (FIXED) __syncwarp();
    }
    out[t] = part[t];
}

static int test(bool fixed) {
    Buffer<int> in(std::vector<int>(32, 3)), out(32);
    LAUNCH(butterfly, 1, 32, in, out);
    return count_wrong(out.host(), [](int) { return 96; });
}

CORPUS_MAIN(test)
