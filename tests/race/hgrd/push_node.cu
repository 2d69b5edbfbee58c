// SPDX-License-Identifier: Apache-2.0
// pushNode (HGRD, table 3; Indigo): every vertex pushes its value to its neighbours, which keep the largest. Only some
// vertices share a neighbour with another one, so that few runs of a detector that waits for a collision see it.
// RACE 1: read-write race, global, can-overlap -- a neighbour is read by one thread while another one writes it
// RACE 2: write-write race, global, can-overlap -- two threads write one neighbour
// FIXED: the neighbour keeps the largest by atomicMax
#include "../corpus.h"

constexpr int N = 128;

template <bool FIXED> __global__ void push(const int *to, const int *value, int *best) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = value[v];          // NEVER
    for (int k = 0; k < 2; k++) {
        int u = to[2 * v + k]; // NEVER
        if constexpr (FIXED) {
            atomicMax(best + u, mine); // FIX
        } else if (best[u] < mine) {   // SIDE 1
            best[u] = mine;            // SIDE 1 2
        }
    }
}

static int test(bool fixed) {
    std::vector<int> to(2 * N), value(N), expected(N);
    for (int v = 0; v < N; v++) {
        value[v] = 1 + v * 37 % N;
        to[2 * v] = v;
        to[2 * v + 1] = v % 32 == 5 ? v ^ 64 : v; // four vertices have a neighbour in another block
        expected[v] = value[v];
    }
    for (int v = 5; v < N; v += 32) {
        expected[v ^ 64] = expected[v ^ 64] > value[v] ? expected[v ^ 64] : value[v];
    }
    Buffer<int> edges(to), values(value), best(N);
    LAUNCH(push, 2, N / 2, edges, values, best);
    return count_wrong(best.host(), [&](int v) { return expected[v]; });
}

CORPUS_MAIN(test)
