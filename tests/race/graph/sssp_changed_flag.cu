// SPDX-License-Identifier: Apache-2.0
// Shortest paths until nothing changes any more: distances are atomic, but everybody who lowered one says so by a plain store of 1.
// RACE 1: write-write race|same-value write, global, can-overlap -- many store the same 1
// FIXED: atomicExch
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

template <bool FIXED> __global__ void relax(int n, const int *row, const int *col, int *dist, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int mine = *(volatile int *)&dist[v]; // NEVER
    for (int e = row[v]; e < row[v + 1]; e++) {
        int longer = mine + 1 + (v + col[e]) % 5;
        if (atomicMin(&dist[col[e]], longer) > longer) { // NEVER
            if constexpr (FIXED)
                atomicExch(changed, 1); // FIX
            else
                *changed = 1; // SIDE 1
        }
    }
}

static int test(bool fixed)
{
    const int n = 40;
    Graph g(n);
    std::vector<int> shortest(n, 1000);
    shortest[0] = 0;
    Buffer<int> row(g.row), col(g.col), dist(shortest), changed(1);
    for (int round = 0; round < n; round++)
        for (int v = 0; v < n; v++)
            for (int e = g.row[v]; e < g.row[v + 1]; e++)
                shortest[g.col[e]] = std::min(shortest[g.col[e]], shortest[v] + 1 + (v + g.col[e]) % 5);
    do {
        CHECK(cudaMemset(changed, 0, sizeof(int)));
        LAUNCH(relax, 2, 32, n, row, col, dist, changed);
    } while (changed.host()[0]);
    return count_wrong(dist.host(), [&](size_t v) { return shortest[v]; });
}

CORPUS_MAIN(test)
