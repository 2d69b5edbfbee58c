// SPDX-License-Identifier: Apache-2.0
// Pattern populate worklist, a thread for each vertex (Indigo's atomicBug): the vertices that qualify are appended to a list whose
// length is counted up without atomics.
// RACE 1: read-write race, global, can-overlap -- two threads read one length
// RACE 2: write-write race|same-value write, global, can-overlap -- and store the same new one
// RACE 3: write-write race, global, can-overlap -- and so take the same slot
// FIXED: atomicAdd
#include "../corpus.h"

template <bool FIXED> __global__ void collect(int n, const int *degree, int *length, int *list)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, slot;
    if (v >= n || degree[v] < 5)
        return;
    if constexpr (FIXED)
        slot = atomicAdd(length, 1); // FIX
    else
        slot = (*length)++; // SIDE 1 2
    list[slot] = v; // SIDE 3
}

static int test(bool fixed)
{
    const int n = 60;
    std::vector<int> degrees(n);
    long expected = 0, got = 0;
    for (int v = 0; v < n; v++) {
        degrees[v] = 3 * v % 10;
        expected += degrees[v] >= 5 ? 1 + v * v : 0;
    }
    Buffer<int> degree(degrees), length(1), list(n);
    LAUNCH(collect, 2, 32, n, degree, length, list);
    std::vector<int> found = list.host();
    for (int k = 0; k < length.host()[0]; k++)
        got += 1 + found[k] * found[k];
    return got != expected;
}

CORPUS_MAIN(test)
