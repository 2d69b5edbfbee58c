// SPDX-License-Identifier: Apache-2.0
// Pattern pull, a block for each vertex (Indigo's syncBug): the warps' sums meet in shared memory, without a barrier.
// RACE 1: read-write race, shared, can-overlap -- the first thread adds up before the other warps have stored
// FIXED: __syncthreads()
#include "../corpus.h"

// In rows: vertex v has edges to v + 1, v + 3 and 2 v.
struct Graph {
    std::vector<int> row{0}, col;
    explicit Graph(int n)
    {
        for (int v = 0; v < n; v++) {
            for (int to : {v + 1, v + 3, 2 * v})
                col.push_back(to % n);
            row.push_back(col.size());
        }
    }
};

template <bool FIXED> __global__ void pull(const int *row, const int *col, int *sum)
{
    __shared__ int part[2];
    int v = blockIdx.x, mine = 0;
    for (int e = row[v] + threadIdx.x; e < row[v + 1]; e += blockDim.x)
        mine += col[e];
    mine = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = mine; // SIDE 1
    if constexpr (FIXED)
        __syncthreads(); // FIX
    if (threadIdx.x == 0)
        sum[v] = part[0] + part[1]; // SIDE 1
}

static int test(bool fixed)
{
    const int n = 8;
    Graph g(n);
    std::vector<int> expected(n);
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected[v] += g.col[e];
    Buffer<int> row(g.row), col(g.col), sum(n);
    LAUNCH(pull, n, 64, row, col, sum);
    return count_wrong(sum.host(), [&](size_t v) { return expected[v]; });
}

CORPUS_MAIN(test)
