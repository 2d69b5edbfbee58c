// SPDX-License-Identifier: Apache-2.0
// CLEAN -- two arrays that change places between launches
// Pattern pull over several rounds: what one launch writes the next one reads. Detectors without launches in their order report it.
#include "../corpus.h"
#include <algorithm>

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

__global__ void pull(int n, const int *row, const int *col, const int *from, int *to)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int most = from[v]; // NEVER
    for (int e = row[v]; e < row[v + 1]; e++)
        most = max(most, from[col[e]]); // NEVER
    to[v] = most; // NEVER
}

static int test(bool)
{
    const int n = 60;
    Graph g(n);
    std::vector<int> values(n);
    values[17] = 5;
    Buffer<int> row(g.row), col(g.col), a(values), b(n);
    for (int round = 0; round < 12; round++) {
        pull<<<2, 32>>>(n, row, col, round % 2 ? b : a, round % 2 ? a : b);
        CHECK(cudaGetLastError());
        std::vector<int> next(values);
        for (int v = 0; v < n; v++)
            for (int e = g.row[v]; e < g.row[v + 1]; e++)
                next[v] = std::max(next[v], values[g.col[e]]);
        values = next;
    }
    return count_wrong(a.host(), [&](size_t v) { return values[v]; });
}

CORPUS_MAIN(test)
