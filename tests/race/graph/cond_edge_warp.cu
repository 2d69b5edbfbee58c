// SPDX-License-Identifier: Apache-2.0
// Pattern conditional edge, a warp for each vertex: the lanes vote, and the first one adds what they found. That saves atomics
// within the warp; between warps they are needed all the same.
// RACE 1: read-write race, global, can-overlap -- two warps add at once
// RACE 2: write-write race|same-value write, global, can-overlap -- likewise
// FIXED: atomicAdd
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

template <bool FIXED> __global__ void upwards(const int *row, const int *col, int *count)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, e = row[v] + lane;
    int found = __popc(__ballot_sync(~0u, e < row[v + 1] && col[e] > v));
    if (lane == 0) {
        if constexpr (FIXED)
            atomicAdd(count, found); // FIX
        else
            *count += found; // SIDE 1 2
    }
}

static int test(bool fixed)
{
    const int n = 8;
    Graph g(n);
    int expected = 0;
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected += g.col[e] > v;
    Buffer<int> row(g.row), col(g.col), count(1);
    LAUNCH(upwards, 4, 64, row, col, count);
    return count_wrong(count.host(), [&](size_t) { return expected; });
}

CORPUS_MAIN(test)
