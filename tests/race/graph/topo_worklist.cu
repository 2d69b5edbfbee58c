// SPDX-License-Identifier: Apache-2.0
// Topological order with a worklist in a persistent kernel: who takes the last dependency from a vertex computes its depth and puts
// it into the list; whoever drew that slot polls it. Slots are atomic; the depth is not, and no fence goes with it.
// RACE 1: read-write race, global, missing-order -- the vertex is published without releasing what was computed for it
// FIXED: fences before publishing and after polling
#include "../corpus.h"

enum { N = 16 };

#define FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")

template <bool FIXED> __global__ void order(int *waits, int *tail, int *head, int *list, int *depth)
{
    for (;;) {
        int k = atomicAdd(head, 1), v; // NEVER
        if (k >= N)
            return;
        while (!(v = atomicAdd(&list[k], 0))) { // NEVER
        }
        if constexpr (FIXED)
            FENCE(); // FIX
        int mine = depth[v]; // SIDE 1
        // Vertex v, from 1, has edges to 2 v and 2 v + 1, whose only dependency it is.
        for (int to = 2 * v; to < 2 * v + 2 && to <= N; to++)
            if (atomicSub(&waits[to], 1) == 1) { // NEVER
                depth[to] = mine + 1; // SIDE 1
                if constexpr (FIXED)
                    FENCE(); // FIX
                atomicExch(&list[atomicAdd(tail, 1)], to); // NEVER
            }
    }
}

static int test(bool fixed)
{
    std::vector<int> one(N + 1, 1), first(N + 1);
    first[0] = 1;
    Buffer<int> waits(one), tail(std::vector<int>{1}), head(1), list(first), depth(N + 1);
    LAUNCH(order, 3, 1, waits, tail, head, list, depth);
    return count_wrong(depth.host(), [](size_t v) {
        int d = 0;
        while ((v /= 2) > 0)
            d++;
        return d;
    });
}

CORPUS_MAIN(test)
