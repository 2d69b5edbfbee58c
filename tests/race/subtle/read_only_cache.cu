// SPDX-License-Identifier: Apache-2.0
// __ldg promises that nobody writes during the kernel. The twin reads one array through the cache and writes another.
// RACE 1: read-write race, global, can-overlap -- the neighbour writes what is read through the read-only cache
// FIXED: two buffers
#include "../corpus.h"

template <bool FIXED> __global__ void smooth(int *data, int *other, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) {
        int sum = __ldg(&data[i - 1]) + __ldg(&data[i + 1]); // SIDE 1
        if constexpr (FIXED)
            other[i] = sum; // FIX
        else
            data[i] = sum; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> values;
    for (int i = 0; i < 128; i++) {
        values.push_back(i);
    }
    Buffer<int> data(values), other(values);
    LAUNCH(smooth, 2, 64, data, other, 128);
    return count_wrong(other.host(), [](int i) { return i == 0 || i == 127 ? i : 2 * i; });
}

CORPUS_MAIN(test)
