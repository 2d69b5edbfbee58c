// SPDX-License-Identifier: Apache-2.0
// Two teams of two warps, each with a barrier of its own (bar.sync id, 64): the other team need not come.
// RACE 1: read-write race, shared, can-overlap -- a team reads what the other team wrote, which its barrier does not order
// FIXED: a team reads its own part
#include "../corpus.h"

template <bool FIXED> __global__ void teams(int *out) {
    __shared__ int cell[128];
    int t = threadIdx.x, team = t / 64;
    cell[t] = 3 * t; // SIDE 1
    asm volatile("bar.sync %0, 64;" ::"r"(team + 1) : "memory");
    out[t] = cell[t ^ (FIXED ? 63 : 127)]; // SIDE 1, FIX
}

static int test(bool fixed) {
    Buffer<int> out(128);
    LAUNCH(teams, 1, 128, out);
    return count_wrong(out.host(), [](int i) { return 3 * (i ^ 63); });
}

CORPUS_MAIN(test)
