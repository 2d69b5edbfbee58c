// SPDX-License-Identifier: Apache-2.0
// Pattern push, a warp for each vertex (Indigo): its lanes go over the edges. Two of them meet in a vertex that has two edges of one
// source.
// RACE 1: read-write race, global, can-overlap -- lanes and warps have a neighbour in common, and adding is not atomic
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

template <bool FIXED> __global__ void push(int n, const int *row, const int *col, int *sum)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (v >= n)
        return;
    for (int e = row[v] + lane; e < row[v + 1]; e += 32) {
        if constexpr (FIXED)
            atomicAdd(&sum[col[e]], v); // FIX
        else
            sum[col[e]] += v; // SIDE 1 2
    }
}

static int test(bool fixed)
{
    const int n = 8;
    Graph g(n);
    std::vector<int> expected(n);
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected[g.col[e]] += v;
    Buffer<int> row(g.row), col(g.col), sum(n);
    LAUNCH(push, 4, 64, n, row, col, sum);
    return count_wrong(sum.host(), [&](size_t v) { return expected[v]; });
}

CORPUS_MAIN(test)
