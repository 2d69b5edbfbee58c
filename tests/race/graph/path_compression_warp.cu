// SPDX-License-Identifier: Apache-2.0
// Pattern path compression, a warp for each path (Indigo's syncBug): the lanes load the path, a step each, and then point every vertex of it
// at the vertex that it got to.
// RACE 1: read-write race, global, can-overlap -- lanes follow links that other lanes of their warp are changing
// FIXED: __syncwarp() between loading and storing
#include "../corpus.h"

template <bool FIXED> __global__ void compress(int *parent)
{
    int path = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int *mine = parent + 32 * path, at = lane;
    for (int k = 0; k < 5; k++)
        at = mine[mine[at]]; // SIDE 1
    if constexpr (FIXED)
        __syncwarp(); // FIX
    mine[lane] = at; // SIDE 1
}

static int test(bool fixed)
{
    const int n = 4 * 32;
    std::vector<int> parents(n);
    for (int v = 0; v < n; v++)
        parents[v] = v % 32 ? v % 32 - 1 : 0;
    Buffer<int> parent(parents);
    LAUNCH(compress, 2, 64, parent);
    return count_wrong(parent.host(), [](size_t v) { return v % 32 < 11 ? 0 : v % 32 - 10; });
}

CORPUS_MAIN(test)
