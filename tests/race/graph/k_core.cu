// SPDX-License-Identifier: Apache-2.0
// Peeling for the k-core: vertices of small degree leave and take one from the degree of each neighbour, who reads that degree
// in the same launch.
// RACE 1: read-write race, global, can-overlap -- a plain load of a degree that others lower by atomics
// FIXED: what to peel is decided from a copy of the degrees
#include "../corpus.h"

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

template <bool FIXED> __global__ void peel(int n, const int *row, const int *col, int *degree, const int *before, char *gone)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, mine;
    if (v >= n || gone[v]) // NEVER
        return;
    if constexpr (FIXED)
        mine = before[v]; // FIX
    else
        mine = degree[v]; // SIDE 1
    if (mine >= 4)
        return;
    gone[v] = 1; // NEVER
    for (int e = row[v]; e < row[v + 1]; e++)
        atomicSub(&degree[col[e]], 1); // SIDE 1
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<int> degrees(n, 4), left(n);
    degrees[7] = degrees[30] = 3;
    Buffer<int> row(g.row), col(g.col), degree(degrees), before(n);
    Buffer<char> gone(n);
    for (int round = 0; round < 24; round++) {
        CHECK(cudaMemcpy(before, degree, before.bytes(), cudaMemcpyDeviceToDevice));
        LAUNCH(peel, 2, 32, n, row, col, degree, before, gone);
    }
    return count_wrong(gone.host(), [](size_t) { return 1; }); // the graph is its own 4-core until one edge is missing
}

CORPUS_MAIN(test)
