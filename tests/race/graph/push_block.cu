// SPDX-License-Identifier: Apache-2.0
// Pattern push, a block for each vertex (Indigo), with atomics of block scope: no two threads of one block are excused by
// them from meeting other blocks' threads at a neighbour.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- two vertices are two blocks
// FIXED: atomicMax of the device's scope
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

template <bool FIXED> __global__ void push(const int *row, const int *col, int *most)
{
    int v = blockIdx.x;
    for (int e = row[v] + threadIdx.x; e < row[v + 1]; e += blockDim.x) {
        if constexpr (FIXED)
            atomicMax(&most[col[e]], v); // FIX
        else
            atomicMax_block(&most[col[e]], v); // SIDE 1
    }
}

static int test(bool fixed)
{
    const int n = 8;
    Graph g(n);
    std::vector<int> expected(n);
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected[g.col[e]] = v;
    Buffer<int> row(g.row), col(g.col), most(n);
    LAUNCH(push, n, 32, row, col, most);
    return count_wrong(most.host(), [&](size_t v) { return expected[v]; });
}

CORPUS_MAIN(test)
