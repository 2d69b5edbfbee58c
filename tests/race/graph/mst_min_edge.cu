// SPDX-License-Identifier: Apache-2.0
// A step of Boruvka's minimum spanning tree: every edge offers itself to the components at its ends. Weight and number of the
// best edge are two words, so even with an atomic for the one they do not belong together.
// RACE 1: write-write race, global, can-overlap -- two edges that improved the weight both store their number
// FIXED: both in 64 bits, and one atomicMin
#include "../corpus.h"
#include <algorithm>

// In rows, each edge in both directions: vertex v has edges to v + 1 and v + 3.
struct Graph {
    std::vector<int> row{0}, col;
    explicit Graph(int n)
    {
        for (int v = 0; v < n; v++) {
            for (int to : {v + 1, v + 3, v + n - 1, v + n - 3})
                col.push_back(to % n);
            row.push_back(col.size());
        }
    }
};

typedef unsigned long long Packed;

template <bool FIXED>
__global__ void offer(int n, const int *row, const int *col, unsigned *weight, unsigned *edge, Packed *best)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, component = v / 10;
    if (v >= n)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        if (col[e] / 10 == component)
            continue;
        unsigned w = 1000 - e * 7 % 1000;
        if constexpr (FIXED)
            atomicMin(&best[component], (Packed)w << 32 | e); // FIX
        else if (atomicMin(&weight[component], w) > w) // NEVER
            edge[component] = e; // SIDE 1
    }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<Packed> expected(n / 10, ~0ull);
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            if (g.col[e] / 10 != v / 10)
                expected[v / 10] = std::min(expected[v / 10], (Packed)(1000 - e * 7 % 1000) << 32 | e);
    Buffer<int> row(g.row), col(g.col);
    Buffer<unsigned> weight(n / 10, 0xff), edge(n / 10);
    Buffer<Packed> best(n / 10, 0xff);
    LAUNCH(offer, 2, 32, n, row, col, weight, edge, best);
    return count_wrong(best.host(), [&](size_t k) { return expected[k]; });
}

CORPUS_MAIN(test)
