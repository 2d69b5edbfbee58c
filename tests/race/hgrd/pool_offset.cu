// SPDX-License-Identifier: Apache-2.0
// Two pointer arguments into one allocation: the host cuts a pool into arrays, the second begins before the first ends.
// RACE 1: read-write race, global, can-overlap -- the first array's end, read by one thread, is the second's beginning
// FIXED: the second array begins where the first one ends
#include "../corpus.h"

constexpr int N = 96;

__global__ void mirror(const int *from, int *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int value = from[n - 1 - i]; // SIDE 1
        to[i] = value + 1;           // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> values(2 * N);
    for (int i = 0; i < N; i++) {
        values[i] = 5 * i;
    }
    Buffer<int> pool(values);
    int offset = N - 16;
    if (fixed) offset = N; // FIX
    mirror<<<(N + 63) / 64, 64>>>(pool, pool + offset, N);
    CHECK(cudaGetLastError());
    return count_wrong(pool.host(), [](int i) { return i < N ? 5 * i : 5 * (2 * N - 1 - i) + 1; });
}

CORPUS_MAIN(test)
