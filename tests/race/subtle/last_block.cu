// SPDX-License-Identifier: Apache-2.0
// threadFenceReduction of the CUDA samples: the block that counts last sums up what all blocks left.
// RACE 1: read-write race, global, missing-order -- without a fence the counter orders nothing
// FIXED: __threadfence before counting, and after
#include "../corpus.h"

template <bool FIXED> __global__ void sum(const int *in, int *part, unsigned *counter, int *out) {
    __shared__ bool last;
    int t = threadIdx.x;
    int mine = in[blockIdx.x * 32 + t];
    for (int step = 16; step > 0; step /= 2) {
        mine += __shfl_down_sync(~0u, mine, step);
    }
    if (t == 0) {
        part[blockIdx.x] = mine; // SIDE 1
        if constexpr (FIXED) __threadfence(); // FIX
        last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
        if constexpr (FIXED) __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) {
            total += part[b]; // SIDE 1
        }
        *out = total;
    }
}

static int test(bool fixed) {
    Buffer<int> in(std::vector<int>(128, 5)), part(4), out(1);
    Buffer<unsigned> counter(1);
    LAUNCH(sum, 4, 32, in, part, counter, out);
    return out.host()[0] != 640;
}

CORPUS_MAIN(test)
