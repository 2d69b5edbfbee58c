// SPDX-License-Identifier: Apache-2.0
// condNeighbor (HGRD, table 3; Indigo): every vertex counts the edges to larger neighbours in one counter.
// RACE 1: read-write race, global, can-overlap -- the counter is read by one thread while another one writes it
// RACE 2: write-write race|same-value write, global, can-overlap -- two threads write the counter
// FIXED: the count goes up atomically
#include "../corpus.h"

constexpr int N = 96;

template <bool FIXED> __global__ void count(const int *first, const int *neighbour, int *counter) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = first[v]; e < first[v + 1]; e++) { // NEVER
        if (neighbour[e] > v) {                     // NEVER
            if constexpr (FIXED) {
                atomicAdd(counter, 1); // FIX
            } else {
                *counter += 1; // SIDE 1 2
            }
        }
    }
}

static int test(bool fixed) {
    std::vector<int> first(N + 1), neighbour;
    int expected = 0;
    for (int v = 0; v < N; v++) {
        for (int k = 0; k < 1 + v % 4; k++) {
            neighbour.push_back((v * 7 + k * 13 + 1) % N);
            expected += neighbour.back() > v;
        }
        first[v + 1] = (int)neighbour.size();
    }
    Buffer<int> from(first), to(neighbour), counter(1);
    LAUNCH(count, 3, N / 3, from, to, counter);
    return count_wrong(counter.host(), [=](int) { return expected; });
}

CORPUS_MAIN(test)
