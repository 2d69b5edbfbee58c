// SPDX-License-Identifier: Apache-2.0
// Connectivity with atomics of block scope (ScoR's graph-con; iGUARD, table 4, type AS): labels of vertices in the middle of a block's range
// belong to it, those at its borders are lowered by two.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- a border vertex is lowered by two blocks
// FIXED: the device's scope
#include "../corpus.h"

template <bool FIXED> __global__ void lower(int n, int *label)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v + 1 >= n)
        return;
    for (int k = 0; k < 2; k++) {
        int least;
        if constexpr (FIXED) {
            least = min(atomicAdd(&label[v], 0), atomicAdd(&label[v + 1], 0)); // FIX
            atomicMin(&label[v], least);
            atomicMin(&label[v + 1], least);
        } else {
            least = min(atomicAdd_block(&label[v], 0), atomicAdd_block(&label[v + 1], 0)); // SIDE 1
            atomicMin_block(&label[v], least);                                           // SIDE 1
            atomicMin_block(&label[v + 1], least);                                       // SIDE 1
        }
    }
}

static int test(bool fixed)
{
    const int n = 32;
    std::vector<int> labels(n);
    for (int v = 0; v < n; v++)
        labels[v] = v;
    Buffer<int> label(labels);
    for (int round = 0; round < n; round++)
        LAUNCH(lower, 2, 16, n, label);
    return count_wrong(label.host(), [](size_t) { return 0; });
}

CORPUS_MAIN(test)
