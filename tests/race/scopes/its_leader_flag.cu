// SPDX-License-Identifier: Apache-2.0
// A leader, chosen among the lanes that are active, stores for its group; the others read what it stored (Gunrock's louvain in
// iGUARD, section 3.2: __activemask() does not bring lanes together).
// RACE 1: read-write race, shared, can-overlap -- the other lanes do not wait for the leader
// RACE 2: write-write race|same-value write, global, can-overlap -- two warps that both read a base too early store to one place
// FIXED: __syncwarp() of the group
#include "../corpus.h"

template <bool FIXED> __global__ void offsets(int *next, int *out)
{
    __shared__ int base[2];
    int t = threadIdx.x, w = t / 32;
    unsigned mask = __ballot_sync(~0u, t % 3 == 0);
    if (t % 3)
        return;
    int leader = __ffs(mask) - 1, rank = __popc(mask & ((1u << t % 32) - 1));
    if (t % 32 == leader)
        base[w] = atomicAdd(next, __popc(mask)); // SIDE 1
    if constexpr (FIXED)
        __syncwarp(mask); // FIX
    out[base[w] + rank] = 1; // SIDE 1 2
}

static int test(bool fixed)
{
    Buffer<int> next(1), out(64);
    LAUNCH(offsets, 1, 64, next, out);
    return count_wrong(out.host(), [](size_t i) { return i < 22; });
}

CORPUS_MAIN(test)
