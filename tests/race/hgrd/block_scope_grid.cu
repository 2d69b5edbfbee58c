// SPDX-License-Identifier: Apache-2.0
// Grid chosen by the host: places in a list are handed out by atomics of block scope, which is enough for one block.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- two blocks count with atomics of block scope
// FIXED: one block
#include "../corpus.h"

constexpr int N = 96;

__global__ void collect(const int *in, int *list, int *count, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (in[i] % 3 == 0) {
            int place = atomicAdd_block(count, 1); // SIDE 1
            list[place] = in[i];
        }
    }
}

static int test(bool fixed) {
    std::vector<int> values(N);
    for (int i = 0; i < N; i++) {
        values[i] = i * 7 % 101;
    }
    Buffer<int> in(values), list(N), count(1);
    int blocks = 3;
    if (fixed) blocks = 1; // FIX
    collect<<<blocks, 32>>>(in, list, count, N);
    CHECK(cudaGetLastError());
    int expected = 0, sum = 0;
    for (int v : values) {
        expected += v % 3 == 0;
        sum += v % 3 == 0 ? v : 0;
    }
    for (int v : list.host()) {
        sum -= v;
    }
    return (count.host()[0] != expected) + (sum != 0);
}

CORPUS_MAIN(test)
