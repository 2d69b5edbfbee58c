// SPDX-License-Identifier: Apache-2.0
// PageRank by pulling, in place and without launches between the rounds: a block's threads go round a loop with a barrier at
// its end only.
// RACE 1: read-write race, shared, can-overlap -- a neighbour's rank is replaced before all have read it
// FIXED: a barrier between reading and replacing
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

enum { N = 64, ROUNDS = 4 };

template <bool FIXED> __global__ void ranks(const int *row, const int *col, float *out)
{
    __shared__ float rank[N];
    int v = threadIdx.x;
    rank[v] = v % 4;
    __syncthreads();
    for (int round = 0; round < ROUNDS; round++) {
        float sum = 0;
        for (int e = row[v]; e < row[v + 1]; e++)
            sum += rank[col[e]]; // SIDE 1
        if constexpr (FIXED)
            __syncthreads(); // FIX
        rank[v] = 0.5f * sum; // SIDE 1
        __syncthreads();
    }
    out[v] = rank[v]; // NEVER
}

static int test(bool fixed)
{
    Graph g(N);
    std::vector<float> rank(N), next(N);
    for (int v = 0; v < N; v++)
        rank[v] = v % 4;
    for (int round = 0; round < ROUNDS; round++, rank = next)
        for (int v = 0; v < N; v++) {
            next[v] = 0;
            for (int e = g.row[v]; e < g.row[v + 1]; e++)
                next[v] += 0.5f * rank[g.col[e]];
        }
    Buffer<int> row(g.row), col(g.col);
    Buffer<float> out(N);
    LAUNCH(ranks, 1, N, row, col, out);
    return count_wrong(out.host(), [&](size_t v) { return rank[v]; });
}

CORPUS_MAIN(test)
