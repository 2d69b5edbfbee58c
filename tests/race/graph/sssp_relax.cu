// SPDX-License-Identifier: Apache-2.0
// Shortest paths, Bellman-Ford with a thread for each vertex: the smaller distance is stored after a look (LonestarGPU's sssp
// without its atomics).
// RACE 1: read-write race, global, can-overlap -- one looks at a distance that another lowers
// RACE 2: write-write race|same-value write, global, can-overlap -- two lower it, and the larger may stay
// RACE 3: read-write race, global, can-overlap -- a vertex reads its own distance while it is lowered
// FIXED: atomicMin, and volatile where only looked
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

template <bool FIXED> __global__ void relax(int n, const int *row, const int *col, int *dist)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, mine;
    if (v >= n)
        return;
    if constexpr (FIXED)
        mine = *(volatile int *)&dist[v]; // FIX
    else
        mine = dist[v]; // SIDE 3
    for (int e = row[v]; e < row[v + 1]; e++) {
        int to = col[e], longer = mine + 1 + (v + to) % 5;
        if constexpr (FIXED)
            atomicMin(&dist[to], longer); // FIX
        else if (longer < dist[to]) // SIDE 1
            dist[to] = longer;      // SIDE 1 2 3
    }
}

static int test(bool fixed)
{
    const int n = 40;
    Graph g(n);
    std::vector<int> shortest(n, 1000);
    shortest[0] = 0;
    Buffer<int> row(g.row), col(g.col), dist(shortest);
    for (int round = 0; round < n; round++)
        for (int v = 0; v < n; v++)
            for (int e = g.row[v]; e < g.row[v + 1]; e++)
                shortest[g.col[e]] = std::min(shortest[g.col[e]], shortest[v] + 1 + (v + g.col[e]) % 5);
    for (int round = 0; round < 20; round++)
        LAUNCH(relax, 2, 32, n, row, col, dist);
    return count_wrong(dist.host(), [&](size_t v) { return shortest[v]; });
}

CORPUS_MAIN(test)
