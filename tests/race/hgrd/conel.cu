// SPDX-License-Identifier: Apache-2.0
// conel (HGRD, table 3; from GKLEE, whose text describes no program of that name): its leading example instead, a sum
// of each element with its right neighbour in place. The race is at both borders: of warps, and of blocks.
// RACE 1: read-write race, global, can-overlap -- the right neighbour's element is read while it is replaced
// RACE 2: read-write race, global, can-overlap -- the last thread reads the first element, from another block
// FIXED: the sums go to an array of their own
#include "../corpus.h"

constexpr int N = 128;

template <bool FIXED> __global__ void add_neighbour(int *data, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int right;
    if (i + 1 < N) {
        right = data[i + 1]; // SIDE 1
    } else {
        right = data[0] * 3; // SIDE 2
    }
    int *to = data;
    if constexpr (FIXED) to = out; // FIX
    to[i] = data[i] + right; // SIDE 1 2
}

static int test(bool fixed) {
    std::vector<int> in(N);
    for (int i = 0; i < N; i++) {
        in[i] = i * i % 101;
    }
    Buffer<int> data(in), out(N);
    LAUNCH(add_neighbour, 2, N / 2, data, out);
    int wrong = count_wrong((fixed ? out : data).host(), [&](int i) {
        return in[i] + (i + 1 < N ? in[i + 1] : 3 * in[0]);
    });
    return wrong;
}

CORPUS_MAIN(test)
