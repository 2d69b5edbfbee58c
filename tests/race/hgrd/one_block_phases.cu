// SPDX-License-Identifier: Apache-2.0
// Block size chosen by the host: two phases with __syncthreads between them, which orders all threads as long as the
// array fits into one block. The host splits it over two.
// RACE 1: read-write race, global, can-overlap -- phase 2 reads what phase 1 of the other block writes
// FIXED: one block of N threads
#include "../corpus.h"

constexpr int N = 128;

__global__ void phases(const int *in, int *square, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    square[i] = in[i] * in[i]; // SIDE 1
    __syncthreads();
    out[i] = square[N - 1 - i] + 1; // SIDE 1
}

static int test(bool fixed) {
    std::vector<int> values(N);
    for (int i = 0; i < N; i++) {
        values[i] = i * 7 % 50;
    }
    Buffer<int> in(values), square(N), out(N);
    int threads = 64;
    if (fixed) threads = N; // FIX
    phases<<<N / threads, threads>>>(in, square, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [&](int i) { return values[N - 1 - i] * values[N - 1 - i] + 1; });
}

CORPUS_MAIN(test)
