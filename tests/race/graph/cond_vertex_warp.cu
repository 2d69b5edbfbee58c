// SPDX-License-Identifier: Apache-2.0
// Pattern conditional vertex, a warp for each vertex (Indigo's guardBug and atomicBug together): every lane, not only the first, compares
// the vertex's largest neighbour with the maximum and stores it.
// RACE 1: read-write race, global, can-overlap -- looking and storing are two steps
// RACE 2: write-write race|same-value write, global, can-overlap -- the lanes store the same, the warps do not
// FIXED: the first lane alone, by atomicMax
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

template <bool FIXED> __global__ void largest(const int *row, const int *col, int *most)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, e = row[v] + lane;
    int mine = __reduce_max_sync(~0u, e < row[v + 1] ? col[e] + 10 * v : 0);
    if constexpr (FIXED) {
        if (lane == 0)
            atomicMax(most, mine); // FIX
    } else if (mine > *most) {     // SIDE 1
        *most = mine;              // SIDE 1 2
    }
}

static int test(bool fixed)
{
    const int n = 8;
    Graph g(n);
    int expected = 0;
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected = expected > g.col[e] + 10 * v ? expected : g.col[e] + 10 * v;
    Buffer<int> row(g.row), col(g.col), most(1);
    LAUNCH(largest, 4, 64, row, col, most);
    return count_wrong(most.host(), [&](size_t) { return expected; });
}

CORPUS_MAIN(test)
