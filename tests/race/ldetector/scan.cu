// SPDX-License-Identifier: Apache-2.0
// scan (LDetector, tables V and VI; CUDA SDK): the naive scan of a block in two rows of shared memory. The original
// has no race; this is the one that papers inject, a missing barrier: read-write, between warps.
// RACE 1: read-write race, shared, can-overlap -- a step reads what other warps are yet to write, or overwrite already
// FIXED: a barrier after every step
#include "../corpus.h"

constexpr int N = 128;

template <bool FIXED> __global__ void scan(const int *in, int *out) {
    __shared__ int row[2][N];
    int t = threadIdx.x, now = 0, mine = in[t], add;
    row[0][t] = mine; // NEVER
    __syncthreads();
    for (int d = 1; d < N; d *= 2, now ^= 1) {
        add = 0;
        if (t >= d) {
            add = row[now][t - d]; // SIDE 1
        }
        mine += add;
        row[now ^ 1][t] = mine;                 // SIDE 1
        if constexpr (FIXED) __syncthreads(); // FIX
    }
    out[t] = mine; // NEVER
}

static int test(bool fixed) {
    std::vector<int> values(N);
    for (int i = 0; i < N; i++) {
        values[i] = i * 13 % 17;
    }
    Buffer<int> in(values), out(N);
    LAUNCH(scan, 1, N, in, out);
    int sum = 0;
    return count_wrong(out.host(), [&](int i) { return sum += values[i]; });
}

CORPUS_MAIN(test)
