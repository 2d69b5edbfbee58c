// SPDX-License-Identifier: Apache-2.0
// Breadth-first search of a small graph in one block, with two frontiers in shared memory that change places. The barrier at the end
// of a level is there, that before the frontier's length is set to zero again is not.
// RACE 1: read-write race, shared, can-overlap -- the length is set back while other warps still read it
// RACE 2: read-write race, shared, missing-order -- a warp that read the 0 leaves, and is not waited for by those who go on
// FIXED: a barrier in between
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

enum { N = 48 };

template <bool FIXED> __global__ void search(const int *row, const int *col, int *level)
{
    __shared__ int list[2][N], length[2], seen[N];
    int t = threadIdx.x;
    if (t < N)
        seen[t] = t == 0;
    if (t == 0) {
        list[0][0] = 0;
        length[0] = 1;
        length[1] = 0;
    }
    __syncthreads();
    for (int now = 0;; now++) {
        int from = now % 2, to = 1 - from, n = length[from]; // SIDE 1 2
        if (n == 0)
            break;
        for (int k = t; k < n; k += blockDim.x)
            for (int v = list[from][k], e = row[v]; e < row[v + 1]; e++)
                if (!atomicExch(&seen[col[e]], 1)) {
                    list[to][atomicAdd(&length[to], 1)] = col[e]; // SIDE 2
                    level[col[e]] = now + 1; // NEVER
                }
        if constexpr (FIXED)
            __syncthreads(); // FIX
        if (t == 0)
            length[from] = 0; // SIDE 1
        __syncthreads();
    }
}

static int test(bool fixed)
{
    Graph g(N);
    Buffer<int> row(g.row), col(g.col), level(N);
    LAUNCH(search, 1, 64, row, col, level);
    std::vector<int> got = level.host();
    return got[1] != 1 || got[2] != 2 || got[3] != 1;
}

CORPUS_MAIN(test)
