// SPDX-License-Identifier: Apache-2.0
// bfs (LDetector, tables V and VI; Rodinia): level by level, the threads of the frontier mark what they find; several
// find the same vertex at once. Read-write and write-write races, but all write the same, so results are right.
// RACE 1: read-write race, global, can-overlap -- a thread looks whether a vertex was found while another one marks it
// RACE 2: same-value write, global, can-overlap -- two mark the same vertex
// RACE 3: same-value write, global, can-overlap -- and write its cost
// RACE 4: same-value write, global, can-overlap -- and put it into the next frontier
// FIXED: who finds a vertex claims it by atomicCAS
#include "../corpus.h"

constexpr int N = 128;

template <bool FIXED> __global__ void expand(const char *frontier, int *visited, int *cost, char *next) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (!frontier[v]) {
        return;
    }
    int level = cost[v] + 1;      // NEVER
    for (int k = 1; k <= 5; k++) { // two vertices have the same five neighbours
        int u = (v / 2 * 5 + k) % N;
        bool found;
        if constexpr (FIXED) {
            found = atomicCAS(visited + u, 0, 1) == 0; // FIX
        } else {
            found = visited[u] == 0; // SIDE 1
        }
        if (found) {
            if constexpr (!FIXED) visited[u] = 1; // SIDE 1 2
            cost[u] = level;                       // SIDE 3
            next[u] = 1;                           // SIDE 4
        }
    }
}

static int test(bool fixed) {
    std::vector<int> expected(N, -1), order{0};
    expected[0] = 0;
    for (size_t i = 0; i < order.size(); i++) {
        for (int k = 1; k <= 5; k++) {
            int u = (order[i] / 2 * 5 + k) % N;
            if (expected[u] < 0) {
                expected[u] = expected[order[i]] + 1;
                order.push_back(u);
            }
        }
    }
    Buffer<char> frontier(N * 10);
    Buffer<int> visited(N), cost(N);
    CHECK(cudaMemset(frontier, 1, 1));
    CHECK(cudaMemset(visited, 1, 1));
    for (int level = 0; level < 8; level++) {
        LAUNCH(expand, 2, N / 2, frontier + level * N, visited, cost, frontier + (level + 1) * N);
    }
    return count_wrong(cost.host(), [&](int v) { return expected[v]; });
}

CORPUS_MAIN(test)
