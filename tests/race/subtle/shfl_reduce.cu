// SPDX-License-Identifier: Apache-2.0
// A block's sum: shuffles in each warp, one word of shared memory for each warp, shuffles again.
// RACE 1: read-write race, shared, can-overlap -- the first warp reads the others' words without a barrier
// FIXED: __syncthreads between
#include "../corpus.h"

template <bool FIXED> __global__ void reduce(const int *in, int *out) {
    __shared__ int part[4];
    int t = threadIdx.x, sum = in[t];
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(~0u, sum, step);
    }
    if (t % 32 == 0) {
        part[t / 32] = sum; // SIDE 1
    }
    if constexpr (FIXED) __syncthreads(); // FIX
    if (t < 32) {
        sum = t < 4 ? part[t] : 0; // SIDE 1
        for (int step = 2; step > 0; step /= 2) {
            sum += __shfl_down_sync(~0u, sum, step);
        }
        if (t == 0) {
            *out = sum;
        }
    }
}

static int test(bool fixed) {
    Buffer<int> in(std::vector<int>(128, 3)), out(1);
    LAUNCH(reduce, 1, 128, in, out);
    return out.host()[0] != 384;
}

CORPUS_MAIN(test)
