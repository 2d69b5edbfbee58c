// SPDX-License-Identifier: Apache-2.0
// Neighbouring shorts of one word written by threads of different warps; the racy one strides by one element too few.
// RACE 1: write-write race, shared, can-overlap -- the last short of a warp is the first of the next
// FIXED: 32 shorts to a warp, so that a word is shared by two warps but no short is
#include "../corpus.h"

template <bool FIXED> __global__ void scatter(short *out) {
    __shared__ alignas(4) short cell[129];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int stride = FIXED ? 32 : 31; // FIX
    cell[1 + warp * stride + lane] = threadIdx.x; // SIDE 1
    __syncthreads();
    out[threadIdx.x] = cell[1 + warp * stride + lane];
}

static int test(bool fixed) {
    Buffer<short> out(128);
    LAUNCH(scatter, 1, 128, out);
    return count_wrong(out.host(), [](int i) { return i; });
}

CORPUS_MAIN(test)
