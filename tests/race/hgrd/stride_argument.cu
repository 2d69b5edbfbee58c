// SPDX-License-Identifier: Apache-2.0
// A stride as an argument: a loop over all elements, in strides that the host works out. It takes a block's threads for
// those of the grid, and every element but the first ones is worked on by both blocks.
// RACE 1: read-write race, global, can-overlap -- both blocks double an element: one reads, the other writes
// RACE 2: write-write race|same-value write, global, can-overlap -- both blocks write the element
// FIXED: the stride is the number of all threads
#include "../corpus.h"

constexpr int N = 300, BLOCKS = 2, THREADS = 64;

__global__ void twice(int *data, int n, int stride) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        data[i] *= 2; // SIDE 1 2
    }
}

static int test(bool fixed) {
    std::vector<int> values(N);
    for (int i = 0; i < N; i++) {
        values[i] = i;
    }
    Buffer<int> data(values);
    int stride = THREADS;
    if (fixed) stride *= BLOCKS; // FIX
    twice<<<BLOCKS, THREADS>>>(data, N, stride);
    CHECK(cudaGetLastError());
    return count_wrong(data.host(), [](int i) { return 2 * i; });
}

CORPUS_MAIN(test)
