// SPDX-License-Identifier: Apache-2.0
// b+tree (LDetector, tables V and VI; Rodinia): a block walks down the tree for one key, each of its threads looks at
// one key of the node, and the one that fits stores where to go on. A key that is twice in a leaf fits two threads.
// RACE 1: write-write race, global, can-overlap -- two threads store the place of their equal keys
// FIXED: only the first of equal keys fits
#include "../corpus.h"

constexpr int ORDER = 64, LEAVES = 4;

template <bool FIXED> __global__ void find(const int *nodes, const int *wanted, int *child, int *answer) {
    int t = threadIdx.x, key = wanted[blockIdx.x];
    const int *root = nodes + LEAVES * ORDER;
    if (t < LEAVES && root[t] <= key && (t + 1 == LEAVES || key < root[t + 1])) { // NEVER
        child[blockIdx.x] = t;                                                   // NEVER
    }
    __syncthreads();
    int leaf = child[blockIdx.x]; // NEVER
    const int *keys = nodes + leaf * ORDER;
    bool fits = keys[t] == key;                                 // NEVER
    if constexpr (FIXED) fits &= t == 0 || keys[t - 1] < key; // FIX
    if (fits) {
        answer[blockIdx.x] = leaf * ORDER + t; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> nodes(LEAVES * ORDER + LEAVES), keys;
    for (int i = 0; i < LEAVES * ORDER; i++) {
        nodes[i] = i % ORDER == 32 ? 3 * (i - 1) : 3 * i; // the two in the middle of a leaf are equal
    }
    for (int leaf = 0; leaf < LEAVES; leaf++) {
        nodes[LEAVES * ORDER + leaf] = nodes[leaf * ORDER];
    }
    const int places[] = {5, 31, 100, 159, 255};
    for (int place : places) {
        keys.push_back(nodes[place]);
    }
    Buffer<int> tree(nodes), wanted(keys), child(keys.size()), answer(keys.size());
    LAUNCH(find, (unsigned)keys.size(), ORDER, tree, wanted, child, answer);
    return count_wrong(answer.host(), [&](int i) { return places[i]; });
}

CORPUS_MAIN(test)
