// SPDX-License-Identifier: Apache-2.0
// A factor as an argument: thread i writes element i * factor modulo 128, a permutation for odd factors only.
// RACE 1: write-write race, global, can-overlap -- with factor 6, threads 64 apart write one element
// FIXED: an odd factor
#include "../corpus.h"

constexpr unsigned N = 128;

__global__ void permute(unsigned *out, unsigned factor) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i * factor % N] = i; // SIDE 1
}

static int test(bool fixed) {
    unsigned factor = 6;
    if (fixed) factor = 7; // FIX
    Buffer<unsigned> out(N);
    permute<<<4, N / 4>>>(out, factor);
    CHECK(cudaGetLastError());
    std::vector<unsigned> to(N);
    for (unsigned i = 0; i < N; i++) {
        to[i * factor % N] = i;
    }
    return count_wrong(out.host(), [&](unsigned i) { return to[i]; });
}

CORPUS_MAIN(test)
