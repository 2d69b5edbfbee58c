// SPDX-License-Identifier: Apache-2.0
// A set of visited vertices, a bit for each: setting a bit loads and stores the word in which 31 other vertices live.
// RACE 1: read-write race, global, can-overlap -- the bits of one word are no locations of their own
// RACE 2: write-write race|same-value write, global, can-overlap -- and a bit that was set may be lost
// FIXED: atomicOr
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

template <bool FIXED> __global__ void visit(int n, const int *row, const int *col, unsigned *set)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || v % 3)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        if constexpr (FIXED)
            atomicOr(&set[col[e] / 32], 1u << col[e] % 32); // FIX
        else
            set[col[e] / 32] |= 1u << col[e] % 32; // SIDE 1 2
    }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<unsigned> expected(2);
    for (int v = 0; v < n; v += 3)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected[g.col[e] / 32] |= 1u << g.col[e] % 32;
    Buffer<int> row(g.row), col(g.col);
    Buffer<unsigned> set(2);
    LAUNCH(visit, 2, 32, n, row, col, set);
    return count_wrong(set.host(), [&](size_t k) { return expected[k]; });
}

CORPUS_MAIN(test)
