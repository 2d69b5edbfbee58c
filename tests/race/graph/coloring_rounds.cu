// SPDX-License-Identifier: Apache-2.0
// CLEAN -- what a round reads is a copy of what the rounds before it wrote; stream order is between them
// Jones and Plassmann's colouring, a launch and a copy for each round: a vertex is coloured when its number is the least
// of its uncoloured neighbours'.
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

__global__ void paint(int n, const int *row, const int *col, const int *before, int *after)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned taken = 1;
    if (v >= n || before[v])
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int theirs = before[col[e]]; // NEVER
        if (!theirs && col[e] < v)
            return;
        taken |= 1u << theirs;
    }
    after[v] = __ffs(~taken) - 1; // NEVER
}

static int test(bool)
{
    const int n = 24;
    Graph g(n);
    Buffer<int> row(g.row), col(g.col), before(n), after(n);
    for (int round = 0; round < n; round++) {
        CHECK(cudaMemcpyAsync(before, after, before.bytes(), cudaMemcpyDeviceToDevice));
        paint<<<1, 32>>>(n, row, col, before, after);
        CHECK(cudaGetLastError());
    }
    std::vector<int> colour = after.host();
    int wrong = 0;
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            wrong += !colour[v] || colour[v] == colour[g.col[e]];
    return wrong;
}

CORPUS_MAIN(test)
