// SPDX-License-Identifier: Apache-2.0
// Pattern path compression, a thread for each vertex (Indigo; ECL-CC): chains of parents are shortened by plain loads and stores
// while others walk them. Every value that anybody can see is a valid ancestor, so it is called benign; PTX calls it a race.
// RACE 1: read-write race, global, can-overlap -- one walks a chain that another shortens
// RACE 2: write-write race|same-value write, global, can-overlap -- two shorten the same link
// FIXED: volatile accesses
#include "../corpus.h"

template <bool FIXED> __global__ void find(int n, int *parent, int *root)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, at = v;
    volatile int *strong = parent;
    if (v >= n)
        return;
    if constexpr (FIXED) {
        int up = strong[at], next; // FIX
        while (up != (next = strong[up])) {
            strong[at] = next;
            at = up;
            up = next;
        }
        root[v] = up;
    } else {
        int up = parent[at], next; // SIDE 1
        while (up != (next = parent[up])) { // SIDE 1
            parent[at] = next; // SIDE 1 2
            at = up;
            up = next;
        }
        root[v] = up;
    }
}

static int test(bool fixed)
{
    const int n = 60;
    std::vector<int> parents(n);
    for (int v = 0; v < n; v++)
        parents[v] = v < 2 ? v : v - 2;
    Buffer<int> parent(parents), root(n);
    LAUNCH(find, 2, 32, n, parent, root);
    return count_wrong(root.host(), [](size_t v) { return v % 2; });
}

CORPUS_MAIN(test)
