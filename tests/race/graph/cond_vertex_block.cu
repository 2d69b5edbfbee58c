// SPDX-License-Identifier: Apache-2.0
// Pattern conditional vertex, a block for each vertex (Indigo's syncBug): a block finds out whether any of its neighbours is marked,
// with a flag in shared memory.
// RACE 1: read-write race, shared, can-overlap -- the flag is read before all have looked at their edges
// RACE 2: write-write race|same-value write, shared, can-overlap -- several threads raise the flag by plain stores
// FIXED: atomicOr, and a barrier before the flag is read
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

template <bool FIXED> __global__ void near(const int *row, const int *col, const char *marked, int *out)
{
    __shared__ int any;
    int v = blockIdx.x;
    if (threadIdx.x == 0)
        any = 0; // NEVER
    __syncthreads();
    for (int e = row[v] + threadIdx.x % 4; e < row[v + 1]; e += 4)
        if (marked[col[e]]) {
            if constexpr (FIXED)
                atomicOr(&any, 1); // FIX
            else
                any = 1; // SIDE 1 2
        }
    if constexpr (FIXED)
        __syncthreads(); // FIX
    if (threadIdx.x == 0)
        out[v] = any; // SIDE 1
}

static int test(bool fixed)
{
    const int n = 8;
    Graph g(n);
    std::vector<char> marks(n);
    marks[3] = marks[6] = 1;
    std::vector<int> expected(n);
    for (int v = 0; v < n; v++)
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            expected[v] |= marks[g.col[e]];
    Buffer<int> row(g.row), col(g.col), out(n);
    Buffer<char> marked(marks);
    LAUNCH(near, n, 64, row, col, marked, out);
    return count_wrong(out.host(), [&](size_t v) { return expected[v]; });
}

CORPUS_MAIN(test)
