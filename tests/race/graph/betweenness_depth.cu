// SPDX-License-Identifier: Apache-2.0
// Betweenness centrality, the way forward: numbers of shortest paths are added up level by level in one kernel of one block, whose
// threads go to the next level without waiting for each other.
// RACE 1: read-write race, shared, can-overlap -- a number is read that others still add to
// FIXED: __syncthreads() after each level
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

enum { N = 64, LEVELS = 4 };

template <bool FIXED> __global__ void paths(const int *row, const int *col, const int *level, int *out)
{
    __shared__ int number[N];
    int v = threadIdx.x;
    number[v] = v == 0;
    __syncthreads();
    for (int now = 0; now < LEVELS; now++) {
        if (level[v] == now)
            for (int e = row[v]; e < row[v + 1]; e++)
                if (level[col[e]] == now + 1)
                    atomicAdd(&number[col[e]], number[v]); // SIDE 1
        if constexpr (FIXED)
            __syncthreads(); // FIX
    }
    __syncthreads();
    out[v] = number[v]; // NEVER
}

static int test(bool fixed)
{
    Graph g(N);
    std::vector<int> levels(N, -1), queue{0}, number(N);
    levels[0] = 0;
    number[0] = 1;
    for (size_t k = 0; k < queue.size(); k++)
        for (int v = queue[k], e = g.row[v]; e < g.row[v + 1]; e++) {
            int to = g.col[e];
            if (levels[to] < 0) {
                levels[to] = levels[v] + 1;
                queue.push_back(to);
            }
            number[to] += levels[to] == levels[v] + 1 && levels[to] <= LEVELS ? number[v] : 0;
        }
    Buffer<int> row(g.row), col(g.col), level(levels), out(N);
    LAUNCH(paths, 1, N, row, col, level, out);
    return count_wrong(out.host(), [&](size_t v) { return number[v]; });
}

CORPUS_MAIN(test)
