// SPDX-License-Identifier: Apache-2.0
// A stack of nodes (Treiber's): a node is filled by plain stores and pushed by compare-and-swap; another block takes nodes off
// when it sees some.
// RACE 1: read-write race, global, missing-order -- a relaxed compare-and-swap does not release the node's value
// RACE 2: read-write race, global, missing-order -- nor its link
// FIXED: fences before pushing and after popping
#include "../corpus.h"

enum { NODES = 8 };

template <bool FIXED> __global__ void work(int *top, int *next, int *value, int *out)
{
    if (blockIdx.x == 0) {
        int node = threadIdx.x + 1, seen = 0, before;
        value[node] = 10 * node; // SIDE 1
        do {
            before = seen;
            next[node] = before; // SIDE 2
            if constexpr (FIXED)
                __threadfence(); // FIX
            seen = atomicCAS(top, before, node); // NEVER
        } while (seen != before);
    } else if (threadIdx.x == 0) {
        for (int k = 0; k < NODES; k++) {
            int node, seen;
            do {
                while (!(node = atomicAdd(top, 0))) { // NEVER
                }
                if constexpr (FIXED)
                    __threadfence(); // FIX
                seen = atomicCAS(top, node, next[node]); // SIDE 2
            } while (seen != node);
            *out += value[node]; // SIDE 1
        }
    }
}

static int test(bool fixed)
{
    Buffer<int> top(1), next(NODES + 1), value(NODES + 1), out(1);
    LAUNCH(work, 2, NODES, top, next, value, out);
    return count_wrong(out.host(), [](size_t) { return 360; });
}

CORPUS_MAIN(test)
