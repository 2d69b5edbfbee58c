// SPDX-License-Identifier: Apache-2.0
// Pattern pull, a warp for each vertex (Indigo's guardBug): the lanes' sums come together by shuffles, and then every lane stores
// what only the first has got right.
// RACE 1: write-write race, global, can-overlap -- all lanes of a warp store to one place
// RACE 2: same-value write, global, can-overlap -- some of them have the same value, which does not help
// FIXED: only the first lane stores
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

template <bool FIXED> __global__ void pull(int n, const int *row, const int *col, const int *value, int *sum)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, mine = 0;
    for (int e = row[v] + lane; e < row[v + 1]; e += 32)
        mine += value[col[e]]; // NEVER
    for (int d = 16; d; d /= 2)
        mine += __shfl_down_sync(~0u, mine, d);
    if (!FIXED || lane == 0) // FIX
        sum[v] = mine; // SIDE 1 2
}

static int test(bool fixed)
{
    const int n = 8;
    Graph g(n);
    std::vector<int> values(n), expected(n);
    for (int v = 0; v < n; v++)
        values[v] = v * v;
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected[v] += values[g.col[e]];
    Buffer<int> row(g.row), col(g.col), value(values), sum(n);
    LAUNCH(pull, 4, 64, n, row, col, value, sum);
    return count_wrong(sum.host(), [&](size_t v) { return expected[v]; });
}

CORPUS_MAIN(test)
