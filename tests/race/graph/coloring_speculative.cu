// SPDX-License-Identifier: Apache-2.0
// Greedy colouring: a vertex takes the first colour that none of its neighbours has, while they do the same (Gunrock's color; iGUARD,
// table 4, type BR). Conflicts are repaired in a later round, which makes the race harmless and leaves it one.
// RACE 1: read-write race, global, can-overlap -- a neighbour's colour is read while it takes one
// FIXED: colours are read and stored by volatile accesses
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

template <bool FIXED> __global__ void paint(int n, const int *row, const int *col, int *colour)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned taken = 1;
    if (v >= n)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int theirs;
        if constexpr (FIXED)
            theirs = *(volatile int *)&colour[col[e]]; // FIX
        else
            theirs = colour[col[e]]; // SIDE 1
        taken |= 1u << theirs;
    }
    if constexpr (FIXED)
        *(volatile int *)&colour[v] = __ffs(~taken) - 1; // FIX
    else
        colour[v] = __ffs(~taken) - 1; // SIDE 1
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    Buffer<int> row(g.row), col(g.col), colour(n);
    LAUNCH(paint, 2, 32, n, row, col, colour);
    int wrong = 0;
    for (int c : colour.host())
        wrong += c < 1 || c > 5; // whether neighbours differ is for the next round
    return wrong;
}

CORPUS_MAIN(test)
