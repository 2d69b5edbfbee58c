// SPDX-License-Identifier: Apache-2.0
// Pattern conditional edge, a block for several vertices: the block counts in shared memory by atomics, and the first thread
// hands its count on. Both barriers are missing (Indigo's syncBug, twice).
// RACE 1: write-write race, shared, can-overlap -- others count before the counter was set
// RACE 2: read-write race, shared, can-overlap -- the count is handed on before all have counted
// FIXED: __syncthreads() before and after
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

template <bool FIXED> __global__ void upwards(int n, const int *row, const int *col, int *count)
{
    __shared__ int mine;
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        mine = 0; // SIDE 1
    if constexpr (FIXED)
        __syncthreads(); // FIX
    for (int e = v < n ? row[v] : 0; v < n && e < row[v + 1]; e++)
        if (col[e] > v)
            atomicAdd(&mine, 1); // SIDE 1 2
    if constexpr (FIXED)
        __syncthreads(); // FIX
    if (threadIdx.x == 0)
        atomicAdd(count, mine); // SIDE 2
}

static int test(bool fixed)
{
    const int n = 120;
    Graph g(n);
    int expected = 0;
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected += g.col[e] > v;
    Buffer<int> row(g.row), col(g.col), count(1);
    LAUNCH(upwards, 2, 64, n, row, col, count);
    return count_wrong(count.host(), [&](size_t) { return expected; });
}

CORPUS_MAIN(test)
