// SPDX-License-Identifier: Apache-2.0
// The reverse of a graph: every edge takes a slot in its target's row. Slots are drawn by atomics of block scope.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- sources of one target are in two blocks
// FIXED: the device's scope
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

template <bool FIXED>
__global__ void turn(int n, const int *row, const int *col, const int *back, int *used, int *from)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int to = col[e], slot;
        if constexpr (FIXED)
            slot = back[to] + atomicAdd(&used[to], 1); // FIX
        else
            slot = back[to] + atomicAdd_block(&used[to], 1); // SIDE 1
        from[slot] = v; // NEVER
    }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<int> backs(n + 1), sum(n), expected(n);
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++) {
            backs[g.col[e] + 1]++;
            expected[g.col[e]] += v * v;
        }
    for (int v = 0; v < n; v++)
        backs[v + 1] += backs[v];
    Buffer<int> row(g.row), col(g.col), back(backs), used(n), from(3 * n);
    LAUNCH(turn, 2, 32, n, row, col, back, used, from);
    std::vector<int> got = from.host();
    for (int v = 0; v < n; v++)
        for (int k = backs[v]; k < backs[v + 1]; k++)
            sum[v] += got[k] * got[k];
    return count_wrong(sum, [&](size_t v) { return expected[v]; });
}

CORPUS_MAIN(test)
