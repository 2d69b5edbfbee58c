// SPDX-License-Identifier: Apache-2.0
// Pointer arguments that are one: each element becomes the sum with its neighbour. The kernel is right for two arrays;
// this host passes the same one as source and target.
// RACE 1: read-write race, global, can-overlap -- with in == out, a neighbour is read while its thread replaces it
// FIXED: two arrays
#include "../corpus.h"

constexpr int N = 128;

__global__ void add_next(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) {
        int next = in[i + 1];   // SIDE 1
        out[i] = in[i] + next; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> values(N);
    for (int i = 0; i < N; i++) {
        values[i] = i * i;
    }
    Buffer<int> in(values), other(values);
    int *out = in;
    if (fixed) out = other; // FIX
    add_next<<<2, N / 2>>>(in, out, N);
    CHECK(cudaGetLastError());
    return count_wrong((fixed ? other : in).host(),
                       [&](int i) { return values[i] + (i + 1 < N ? values[i + 1] : 0); });
}

CORPUS_MAIN(test)
