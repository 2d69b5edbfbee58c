// SPDX-License-Identifier: Apache-2.0
// Maximal independent set, Luby's, in place: a vertex looks at its neighbours' states and decides on its own (LonestarGPU's mis;
// iGUARD, table 4, types BR and DR).
// RACE 1: read-write race, global, can-overlap -- a neighbour's state is read while it decides
// FIXED: states before and after a round are two arrays
#include "../corpus.h"
#include <algorithm>

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

enum { OPEN, IN, OUT };

template <bool FIXED> __global__ void decide(int n, const int *row, const int *col, char *state, char *after)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, next = IN;
    if (v >= n)
        return;
    char *to = FIXED ? after : state; // FIX
    if (state[v] != OPEN) { // NEVER
        if constexpr (FIXED)
            to[v] = state[v];
        return;
    }
    for (int e = row[v]; e < row[v + 1]; e++) {
        int theirs = state[col[e]]; // SIDE 1
        if (theirs == IN)
            next = OUT;
        else if (theirs == OPEN && col[e] * 37 % n < v * 37 % n && next == IN)
            next = OPEN;
    }
    to[v] = next; // SIDE 1
}

static int test(bool fixed)
{
    const int n = 60;
    Graph g(n);
    Buffer<int> row(g.row), col(g.col);
    Buffer<char> state(n), after(n);
    for (int round = 0; round < n; round++) {
        LAUNCH(decide, 2, 32, n, row, col, state, after);
        if (fixed)
            CHECK(cudaMemcpy(state, after, n, cudaMemcpyDeviceToDevice));
    }
    std::vector<char> got = state.host();
    int wrong = 0;
    for (int v = 0; v < n; v++) {
        int in = 0;
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            in += got[g.col[e]] == IN;
        wrong += got[v] == IN ? in > 0 : in == 0;
    }
    return wrong;
}

CORPUS_MAIN(test)
