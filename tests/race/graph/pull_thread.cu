// SPDX-License-Identifier: Apache-2.0
// Pattern pull, a thread for each vertex (Indigo), in place: every vertex takes the largest of its neighbours' values while they do
// the same.
// RACE 1: read-write race, global, can-overlap -- a neighbour's value is read and written in one launch
// FIXED: what is read and what is written are two arrays
#include "../corpus.h"
#include <algorithm>

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

template <bool FIXED> __global__ void pull(int n, const int *row, const int *col, int *value, int *next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, most = 0;
    if (v >= n)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int x = value[col[e]]; // SIDE 1
        most = x > most ? x : most;
    }
    if constexpr (FIXED)
        next[v] = most; // FIX
    else
        value[v] = most; // SIDE 1
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<int> values(n), expected(n);
    for (int v = 0; v < n; v++)
        values[v] = 7 * v % n;
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected[v] = std::max(expected[v], values[g.col[e]]);
    Buffer<int> row(g.row), col(g.col), value(values), next(n);
    LAUNCH(pull, 2, 32, n, row, col, value, next);
    return count_wrong((fixed ? next : value).host(), [&](size_t v) { return expected[v]; });
}

CORPUS_MAIN(test)
