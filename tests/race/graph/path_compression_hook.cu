// SPDX-License-Identifier: Apache-2.0
// Pattern path compression with hooking (Indigo's atomicBug): for each edge the larger root is put under the smaller one. Between
// finding a root and hooking it somebody else may have hooked it; a plain store loses that.
// RACE 1: read-write race, global, can-overlap -- a volatile walk and a plain store
// RACE 2: write-write race|same-value write, global, can-overlap -- two hook the same root
// FIXED: compare-and-swap, and again if it failed
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

__device__ int find(volatile int *parent, int v)
{
    int up;
    while ((up = parent[v]) != v) // SIDE 1
        v = up;
    return v;
}

template <bool FIXED> __global__ void hook(int n, const int *row, const int *col, int *parent)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    for (int e = row[v]; e < row[v + 1]; e++)
        for (;;) {
            int a = find(parent, v), b = find(parent, col[e]), low = min(a, b), high = max(a, b);
            if (low == high)
                break;
            if constexpr (FIXED) {
                atomicCAS(&parent[high], high, low); // FIX
            } else {
                parent[high] = low; // SIDE 1 2
                break;
            }
        }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<int> parents(n);
    for (int v = 0; v < n; v++)
        parents[v] = v;
    Buffer<int> row(g.row), col(g.col), parent(parents);
    LAUNCH(hook, 2, 32, n, row, col, parent);
    int roots = 0, v = 0;
    for (int up : parent.host())
        roots += up == v++;
    return roots != 1;
}

CORPUS_MAIN(test)
