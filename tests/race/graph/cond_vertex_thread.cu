// SPDX-License-Identifier: Apache-2.0
// Pattern conditional vertex, a thread for each vertex (Indigo's atomicBug): vertices with a large degree raise one maximum.
// RACE 1: read-write race, global, can-overlap -- looking and storing are two steps
// RACE 2: write-write race|same-value write, global, can-overlap -- two that both think theirs is the largest
// FIXED: atomicMax
#include "../corpus.h"

template <bool FIXED> __global__ void largest(int n, const int *row, int *most)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int degree = row[v + 1] - row[v];
    if constexpr (FIXED)
        atomicMax(most, degree); // FIX
    else if (degree > *most)     // SIDE 1
        *most = degree;          // SIDE 1 2
}

static int test(bool fixed)
{
    const int n = 60;
    std::vector<int> rows{0};
    for (int v = 0; v < n; v++)
        rows.push_back(rows.back() + 1 + v * 11 % 40);
    Buffer<int> row(rows), most(1);
    LAUNCH(largest, 2, 32, n, row, most);
    return count_wrong(most.host(), [](size_t) { return 40; });
}

CORPUS_MAIN(test)
