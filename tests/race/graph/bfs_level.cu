// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, a launch for each level: unvisited neighbours get the next level by a plain store. All who do store the same
// number, which is called benign (SHoC's BFS; iGUARD, table 4).
// RACE 1: read-write race, global, can-overlap -- one looks whether a vertex was visited while another marks it
// RACE 2: write-write race|same-value write, global, can-overlap -- two mark it
// RACE 3: read-write race, global, can-overlap -- a vertex reads its own level while it gets one
// FIXED: compare-and-swap, and volatile where only looked
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

template <bool FIXED> __global__ void visit(int n, const int *row, const int *col, int *level, int now)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int mine;
    if constexpr (FIXED)
        mine = *(volatile int *)&level[v]; // FIX
    else
        mine = level[v]; // SIDE 3
    if (mine != now)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        if constexpr (FIXED)
            atomicCAS(&level[col[e]], -1, now + 1); // FIX
        else if (level[col[e]] < 0)    // SIDE 1
            level[col[e]] = now + 1; // SIDE 1 2 3
    }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<int> levels(n, -1), queue{0};
    Buffer<int> row(g.row), col(g.col), level(levels);
    CHECK(cudaMemset(level, 0, sizeof(int)));
    levels[0] = 0;
    for (size_t k = 0; k < queue.size(); k++)
        for (int e = g.row[queue[k]]; e < g.row[queue[k] + 1]; e++)
            if (levels[g.col[e]] < 0) {
                levels[g.col[e]] = levels[queue[k]] + 1;
                queue.push_back(g.col[e]);
            }
    for (int now = 0; now < 8; now++)
        LAUNCH(visit, 2, 32, n, row, col, level, now);
    return count_wrong(level.host(), [&](size_t v) { return levels[v] <= 8 ? levels[v] : -1; });
}

CORPUS_MAIN(test)
