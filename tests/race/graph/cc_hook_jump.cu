// SPDX-License-Identifier: Apache-2.0
// Connected components as Shiloach and Vishkin have it, hooking and jumping in one kernel of one block; the barrier between the two
// is missing (LonestarGPU's cc; iGUARD, table 4, types BR and DR).
// RACE 1: read-write race, shared, can-overlap -- one jumps, and so reads parents, while another still hooks
// RACE 2: read-write race, shared, can-overlap -- likewise, the parent's parent
// FIXED: __syncthreads() between the phases
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

enum { N = 64 };

template <bool FIXED> __global__ void components(const int *row, const int *col, int *out)
{
    __shared__ int parent[N], least[N];
    int v = threadIdx.x;
    parent[v] = least[v] = v;
    __syncthreads();
    for (int round = 0; round < 7; round++) {
        for (int e = row[v]; e < row[v + 1]; e++)
            atomicMin(&least[parent[v]], parent[col[e]]); // SIDE 1 2
        if constexpr (FIXED)
            __syncthreads(); // FIX
        int up = least[v]; // SIDE 1
        up = least[up];    // SIDE 2
        __syncthreads();
        parent[v] = least[v] = up; // NEVER
        __syncthreads();
    }
    out[v] = parent[v]; // NEVER
}

static int test(bool fixed)
{
    Graph g(N);
    Buffer<int> row(g.row), col(g.col), out(N);
    LAUNCH(components, 1, N, row, col, out);
    return count_wrong(out.host(), [](size_t) { return 0; });
}

CORPUS_MAIN(test)
