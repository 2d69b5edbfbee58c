// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: the threads that took a branch form a group and share a list through it.
// RACE 1: read-write race, shared, can-overlap -- the leader's store is read without the group's sync
// FIXED: group.sync() before the read
#include "../corpus.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool FIXED> __global__ void collect(int *out) {
    __shared__ int base;
    int t = threadIdx.x;
    if (t % 3 == 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        if (group.thread_rank() == 0) {
            base = 100 * group.size(); // SIDE 1
        }
        if constexpr (FIXED) group.sync(); // FIX
        out[t] = base + group.thread_rank(); // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> out(32);
    LAUNCH(collect, 1, 32, out);
    return count_wrong(out.host(), [](int i) { return i % 3 ? 0 : 1100 + i / 3; });
}

CORPUS_MAIN(test)
