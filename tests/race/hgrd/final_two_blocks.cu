// SPDX-License-Identifier: Apache-2.0
// Grid chosen by the host (HGRD, figure 2, broken): the kernel whose thread 0 writes the final sum is started with more
// than one block. Both write, both the same: each block adds up all parts.
// RACE 1: same-value write, global, can-overlap -- thread 0 of each block writes the result
// FIXED: one block
#include "../corpus.h"

constexpr int PARTS = 96, THREADS = 64;

__global__ void final_sum(const int *part, int parts, int *result) {
    __shared__ int sum[THREADS];
    int t = threadIdx.x, mine = 0;
    for (int i = t; i < parts; i += THREADS) {
        mine += part[i]; // NEVER
    }
    sum[t] = mine; // NEVER
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            sum[t] += sum[t + half]; // NEVER
        }
        __syncthreads();
    }
    if (t == 0) {
        result[0] = sum[0]; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> parts(PARTS);
    int expected = 0;
    for (int i = 0; i < PARTS; i++) {
        expected += parts[i] = i * 3 % 7;
    }
    Buffer<int> part(parts), result(1);
    int blocks = (PARTS + THREADS - 1) / THREADS;
    if (fixed) blocks = 1; // FIX
    final_sum<<<blocks, THREADS>>>(part, PARTS, result);
    CHECK(cudaGetLastError());
    return result.host()[0] != expected;
}

CORPUS_MAIN(test)
