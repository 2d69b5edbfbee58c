// SPDX-License-Identifier: Apache-2.0
// Pattern populate worklist with a guard (Indigo's guardBug): a vertex that was seen is not appended again. Looking and marking
// are two steps, so a vertex may be appended twice.
// RACE 1: read-write race, global, can-overlap -- one looks while another marks
// RACE 2: write-write race|same-value write, global, can-overlap -- two mark
// FIXED: atomicExch looks and marks at once
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

template <bool FIXED> __global__ void collect(int n, const int *row, const int *col, int *seen, int *length, int *list)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int to = col[e];
        if constexpr (FIXED) {
            if (atomicExch(&seen[to], 1)) // FIX
                continue;
        } else {
            if (seen[to]) // SIDE 1
                continue;
            seen[to] = 1; // SIDE 1 2
        }
        list[atomicAdd(length, 1)] = to; // NEVER
    }
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    Buffer<int> row(g.row), col(g.col), seen(n), length(1), list(3 * n);
    LAUNCH(collect, 2, 32, n, row, col, seen, length, list);
    std::vector<int> times(n), found = list.host();
    for (int k = 0; k < length.host()[0]; k++)
        times[found[k]]++;
    return count_wrong(times, [](size_t) { return 1; });
}

CORPUS_MAIN(test)
