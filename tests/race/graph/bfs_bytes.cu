// SPDX-License-Identifier: Apache-2.0
// Breadth-first search with a byte for each vertex (Rodinia's bfs): one kernel visits what the mask says, another makes the next mask.
// The first clears its own mask byte in place and reads the visited bytes that only the second one writes.
// RACE 1: write-write race|same-value write, global, can-overlap -- many store the same 1 into a neighbour's byte
// RACE 2: write-write race|same-value write, global, can-overlap -- and the same cost into its cost
// FIXED: one of them is elected by an atomic
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

template <bool FIXED>
__global__ void visit(int n, const int *row, const int *col, const char *mask, const char *visited, char *next, int *cost,
                      int *claimed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || !mask[v]) // NEVER
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int to = col[e];
        if (visited[to]) // NEVER
            continue;
        if (FIXED && atomicExch(&claimed[to], 1)) // FIX
            continue;
        cost[to] = cost[v] + 1; // SIDE 2
        next[to] = 1;           // SIDE 1
    }
}

__global__ void turn(int n, char *mask, char *visited, char *next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        mask[v] = next[v]; // NEVER
        visited[v] |= next[v];
        next[v] = 0;
    }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    Buffer<int> row(g.row), col(g.col), cost(n), claimed(n);
    Buffer<char> mask(n), visited(n), next(n);
    CHECK(cudaMemset(mask, 1, 1));
    CHECK(cudaMemset(visited, 1, 1));
    for (int level = 0; level < 20; level++) {
        LAUNCH(visit, 2, 32, n, row, col, mask, visited, next, cost, claimed);
        turn<<<2, 32>>>(n, mask, visited, next);
    }
    std::vector<int> got = cost.host();
    int wrong = got[0] != 0 || got[3] != 1;
    for (int v = 1; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            wrong += got[g.col[e]] > got[v] + 1;
    return wrong;
}

CORPUS_MAIN(test)
