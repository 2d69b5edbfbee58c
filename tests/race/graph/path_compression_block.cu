// SPDX-License-Identifier: Apache-2.0
// Pattern path compression in shared memory, by pointer jumping, a block for each component (Indigo's syncBug): everybody replaces
// its parent by its grandparent, round by round.
// RACE 1: read-write race, shared, can-overlap -- one reads its parent's parent while that one jumps
// FIXED: a barrier between reading and writing, and one between the rounds
#include "../corpus.h"

enum { N = 64 };

template <bool FIXED> __global__ void jump(int *root)
{
    __shared__ int parent[N];
    int v = threadIdx.x;
    parent[v] = v ? v - 1 : 0; // NEVER
    __syncthreads();
    for (int k = 1; k < N; k *= 2) {
        int next = parent[parent[v]]; // SIDE 1
        if constexpr (FIXED)
            __syncthreads(); // FIX
        parent[v] = next; // SIDE 1
        if constexpr (FIXED)
            __syncthreads(); // FIX
    }
    root[blockIdx.x * N + v] = parent[v]; // NEVER
}

static int test(bool fixed)
{
    Buffer<int> root(2 * N);
    LAUNCH(jump, 2, N, root);
    return count_wrong(root.host(), [](size_t) { return 0; });
}

CORPUS_MAIN(test)
