// SPDX-License-Identifier: Apache-2.0
// Pattern conditional edge, a thread for each vertex (Indigo's atomicBug): edges that lead upwards are counted.
// RACE 1: read-write race, global, can-overlap -- counting is not atomic
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

template <bool FIXED> __global__ void upwards(int n, const int *row, const int *col, int *count)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    for (int e = row[v]; e < row[v + 1]; e++)
        if (col[e] > v) {
            if constexpr (FIXED)
                atomicAdd(count, 1); // FIX
            else
                ++*count; // SIDE 1 2
        }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    int expected = 0;
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected += g.col[e] > v;
    Buffer<int> row(g.row), col(g.col), count(1);
    LAUNCH(upwards, 2, 32, n, row, col, count);
    return count_wrong(count.host(), [&](size_t) { return expected; });
}

CORPUS_MAIN(test)
