// SPDX-License-Identifier: Apache-2.0
// __syncthreads_or is a barrier besides a vote, and orders memory; a warp's vote is none.
// RACE 1: read-write race, shared, can-overlap -- the two warps vote by themselves
// FIXED: __syncthreads_or
#include "../corpus.h"

template <bool FIXED> __global__ void vote(const int *in, int *out) {
    __shared__ int cell[64];
    int t = threadIdx.x;
    cell[t] = in[t]; // SIDE 1
    int any = FIXED ? __syncthreads_or(in[t] > 60) : __any_sync(~0u, in[t] > 60); // FIX
    out[t] = cell[63 - t] + (any ? 100 : 0); // SIDE 1
}

static int test(bool fixed) {
    std::vector<int> values;
    for (int i = 0; i < 64; i++) {
        values.push_back(i);
    }
    Buffer<int> in(values), out(64);
    LAUNCH(vote, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 163 - i; });
}

CORPUS_MAIN(test)
