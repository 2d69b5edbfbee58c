// SPDX-License-Identifier: Apache-2.0
// Triangle counting: a tree reduction over the counts of a block's threads, where the barrier stands in front of the loop only.
// RACE 1: read-write race, shared, can-overlap -- a step adds what other warps have not stored yet
// FIXED: __syncthreads() in every step
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

enum { THREADS = 128 };

template <bool FIXED> __global__ void triangles(int n, const int *row, const int *col, int *total)
{
    __shared__ int count[THREADS];
    int t = threadIdx.x, v = t, found = 0;
    for (int e = v < n ? row[v] : 0; v < n && e < row[v + 1]; e++)
        for (int f = row[col[e]]; f < row[col[e] + 1]; f++)
            for (int g = row[v]; g < row[v + 1]; g++)
                found += col[g] == col[f];
    count[t] = found;
    __syncthreads();
    for (int d = THREADS / 2; d; d /= 2) {
        if (t < d)
            count[t] += count[t + d]; // SIDE 1
        if constexpr (FIXED)
            __syncthreads(); // FIX
    }
    if (t == 0)
        *total = count[0]; // NEVER
}

static int test(bool fixed)
{
    const int n = 7; // every vertex: neighbours 1 and 3 away, so that 1 + 3 + 3 goes round
    Graph g(n);
    int expected = 0;
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            for (int f = g.row[g.col[e]]; f < g.row[g.col[e] + 1]; f++)
                for (int k = g.row[v]; k < g.row[v + 1]; k++)
                    expected += g.col[k] == g.col[f];
    Buffer<int> row(g.row), col(g.col), total(1);
    LAUNCH(triangles, 1, THREADS, n, row, col, total);
    return count_wrong(total.host(), [&](size_t) { return expected; });
}

CORPUS_MAIN(test)
