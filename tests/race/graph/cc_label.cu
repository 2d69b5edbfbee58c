// SPDX-License-Identifier: Apache-2.0
// Connected components by spreading the smallest label with plain loads and stores. Labels only fall, and it is done again
// until nothing changes: a "benign" race that PTX does not know of.
// RACE 1: read-write race, global, can-overlap -- a neighbour's label is read while it falls
// FIXED: volatile loads and stores
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

template <bool FIXED> __global__ void spread(int n, const int *row, const int *col, int *label)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    volatile int *strong = label;
    if (v >= n)
        return;
    int before = label[v], least = before; // NEVER
    for (int e = row[v]; e < row[v + 1]; e++) {
        int theirs;
        if constexpr (FIXED)
            theirs = strong[col[e]]; // FIX
        else
            theirs = label[col[e]]; // SIDE 1
        least = min(least, theirs);
    }
    if (least == before)
        return;
    if constexpr (FIXED)
        strong[v] = least; // FIX
    else
        label[v] = least; // SIDE 1
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    std::vector<int> labels(n);
    for (int v = 0; v < n; v++)
        labels[v] = v;
    Buffer<int> row(g.row), col(g.col), label(labels);
    for (int round = 0; round < 24; round++)
        LAUNCH(spread, 2, 32, n, row, col, label);
    return count_wrong(label.host(), [](size_t) { return 0; });
}

CORPUS_MAIN(test)
