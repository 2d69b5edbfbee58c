// SPDX-License-Identifier: Apache-2.0
// Pattern push, a thread for each vertex (Indigo): every vertex adds its value to its neighbours' sums.
// RACE 1: read-write race, global, can-overlap -- two vertices have a neighbour in common, and adding is not atomic
// RACE 2: write-write race|same-value write, global, can-overlap -- likewise
// FIXED: atomicAdd
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

template <bool FIXED> __global__ void push(int n, const int *row, const int *col, const int *value, int *sum)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        if constexpr (FIXED)
            atomicAdd(&sum[col[e]], value[v]); // FIX
        else
            sum[col[e]] += value[v]; // SIDE 1 2
    }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<int> values(n), expected(n);
    for (int v = 0; v < n; v++)
        values[v] = 7 * v % 10;
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected[g.col[e]] += values[v];
    Buffer<int> row(g.row), col(g.col), value(values), sum(n);
    LAUNCH(push, 2, 32, n, row, col, value, sum);
    return count_wrong(sum.host(), [&](size_t v) { return expected[v]; });
}

CORPUS_MAIN(test)
