// SPDX-License-Identifier: Apache-2.0
// pathCompression (HGRD, table 3; Indigo): every vertex looks for the root of its tree and shortens the way for those
// who come after it, while others walk the same way.
// RACE 1: read-write race, global, can-overlap -- a thread walks over a link that another one shortens
// RACE 2: write-write race|same-value write, global, can-overlap -- two threads shorten the same link
// FIXED: links are read and shortened with relaxed atomics
#include "../corpus.h"

constexpr int N = 256;

template <bool FIXED> __global__ void compress(int *parent, int *root) {
    int v = blockIdx.x * blockDim.x + threadIdx.x, previous = v, next;
    int current = v;
    while (true) {
        if constexpr (FIXED) {
            next = atomicAdd(parent + current, 0); // FIX
        } else {
            next = parent[current]; // SIDE 1
        }
        if (next == current) {
            break;
        }
        if (previous != current) {
            if constexpr (FIXED) {
                atomicExch(parent + previous, next); // FIX
            } else {
                parent[previous] = next; // SIDE 1 2
            }
        }
        previous = current;
        current = next;
    }
    root[v] = current; // NEVER
}

static int test(bool fixed) {
    std::vector<int> tree(N); // vertices are linked to smaller ones, each tree has 32 of them
    for (int v = 0; v < N; v++) {
        tree[v] = v % 32 ? v - 1 - v % 3 % (v % 32) : v;
    }
    Buffer<int> parent(tree), root(N);
    LAUNCH(compress, 4, N / 4, parent, root);
    return count_wrong(root.host(), [](int v) { return v / 32 * 32; });
}

CORPUS_MAIN(test)
