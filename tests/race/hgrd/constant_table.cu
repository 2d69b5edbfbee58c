// SPDX-License-Identifier: Apache-2.0
// A table in constant memory: threads store where the table sends them, which is a place of each thread's own only if
// the host filled it with a permutation.
// RACE 1: write-write race, global, can-overlap -- two entries of the table are equal
// FIXED: the table is a permutation
#include "../corpus.h"

constexpr int N = 64;
__constant__ unsigned char PLACE[N];

__global__ void scatter(const int *in, int *out) {
    int t = threadIdx.x, at = blockIdx.x * N + PLACE[t];
    out[at] = in[blockIdx.x * N + t]; // SIDE 1
}

static int test(bool fixed) {
    unsigned char place[N];
    std::vector<int> values(2 * N), expected(2 * N);
    for (int t = 0; t < N; t++) {
        place[t] = (unsigned char)(t * 6 % N);
        if (fixed) place[t] = (unsigned char)(t * 5 % N); // FIX
        for (int b = 0; b < 2 * N; b += N) {
            values[b + t] = 1000 + b + t;
            expected[b + place[t]] = values[b + t];
        }
    }
    CHECK(cudaMemcpyToSymbol(PLACE, place, sizeof place));
    Buffer<int> in(values), out(2 * N);
    scatter<<<2, N>>>(in, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [&](int i) { return expected[i]; });
}

CORPUS_MAIN(test)
