// SPDX-License-Identifier: Apache-2.0
// Pattern push with a guard (Indigo's guardBug turned round): the maximum is atomic, but a plain load in front of it saves the atomics
// that would change nothing. It is harmless on every GPU, and a race.
// RACE 1: read-write race, global, can-overlap -- a weak load of what others change by atomics
// FIXED: the guard is a volatile load
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

template <bool FIXED> __global__ void push(int n, const int *row, const int *col, int *most)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int *to = &most[col[e]], seen;
        if constexpr (FIXED)
            seen = *(volatile int *)to; // FIX
        else
            seen = *to; // SIDE 1
        if (seen < v)
            atomicMax(to, v); // SIDE 1
    }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<int> expected(n);
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected[g.col[e]] = v;
    Buffer<int> row(g.row), col(g.col), most(n);
    LAUNCH(push, 2, 32, n, row, col, most);
    return count_wrong(most.host(), [&](size_t v) { return expected[v]; });
}

CORPUS_MAIN(test)
