// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory divided by the host: two arrays follow each other, where the second begins is an argument. It
// is given in pairs instead of elements, so that the second begins in the middle of the first.
// RACE 1: write-write race, shared, can-overlap -- an element of both arrays is written by two threads
// FIXED: the second array begins after the first
#include "../corpus.h"

constexpr int N = 64;

__global__ void combine(const int *in, int *out, int second) {
    extern __shared__ int memory[];
    int *a = memory, *b = memory + second, t = threadIdx.x;
    a[t] = in[t];     // SIDE 1
    b[t] = in[N + t]; // SIDE 1
    __syncthreads();
    out[t] = a[N - 1 - t] * b[t ^ 1]; // NEVER
}

static int test(bool fixed) {
    std::vector<int> values(2 * N);
    for (int i = 0; i < 2 * N; i++) {
        values[i] = i + 1;
    }
    Buffer<int> in(values), out(N);
    int second = N / 2;
    if (fixed) second = N; // FIX
    combine<<<1, N, 2 * N * sizeof(int)>>>(in, out, second);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [&](int t) { return values[N - 1 - t] * values[N + (t ^ 1)]; });
}

CORPUS_MAIN(test)
