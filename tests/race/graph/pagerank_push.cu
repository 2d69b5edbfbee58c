// SPDX-License-Identifier: Apache-2.0
// PageRank by pushing, with residuals: a vertex takes its residual, keeps it and sends shares of it on. Sending is atomic,
// taking is a plain load and a plain store, so what comes in between is lost.
// RACE 1: read-write race, global, can-overlap -- taking and sending: a plain load and an atomic
// RACE 2: write-write race, global, can-overlap -- likewise the plain store of 0
// FIXED: atomicExch takes
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

template <bool FIXED> __global__ void spread(int n, const int *row, const int *col, unsigned *residual, unsigned *rank)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    unsigned mine;
    if constexpr (FIXED) {
        mine = atomicExch(&residual[v], 0); // FIX
    } else {
        mine = residual[v]; // SIDE 1
        residual[v] = 0;    // SIDE 2
    }
    rank[v] += mine; // NEVER
    for (int e = row[v]; e < row[v + 1]; e++)
        atomicAdd(&residual[col[e]], mine / 8); // SIDE 1 2
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<unsigned> first(n, 4096);
    Buffer<int> row(g.row), col(g.col);
    Buffer<unsigned> residual(first), rank(n);
    for (int round = 0; round < 20; round++)
        LAUNCH(spread, 2, 32, n, row, col, residual, rank);
    int wrong = 0;
    for (unsigned left : residual.host())
        wrong += left > 64;
    for (unsigned r : rank.host())
        wrong += r < 4096;
    return wrong;
}

CORPUS_MAIN(test)
