// SPDX-License-Identifier: Apache-2.0
// The last steps of a reduction in one warp, as before Volta: volatile shared memory and no barrier. PTX takes volatile for relaxed
// with system scope, so it is no data race by PTX; that the sums come out right is another matter.
// RACE 1: volatile race, shared, can-overlap -- since Volta the lanes of a warp need not run in lockstep
// FIXED: __syncwarp between reading and writing
#include "../corpus.h"

template <bool FIXED> __global__ void reduce(const int *in, int *out) {
    __shared__ volatile int part[64];
    int t = threadIdx.x;
    part[t] = in[t];
    part[t + 32] = in[t + 32];
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        int sum = part[t] + part[t + step % 64]; // SIDE 1
        if constexpr (FIXED) __syncwarp(); // FIX
        part[t] = sum; // SIDE 1
        if constexpr (FIXED) __syncwarp();
    }
    if (t == 0) {
        *out = part[0];
    }
}

static int test(bool fixed) {
    Buffer<int> in(std::vector<int>(64, 3)), out(1);
    LAUNCH(reduce, 1, 32, in, out);
    return out.host()[0] != 192;
}

CORPUS_MAIN(test)
