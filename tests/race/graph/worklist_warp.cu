// SPDX-License-Identifier: Apache-2.0
// Pattern populate worklist, a warp at a time: the lanes vote, one takes slots for all of them and tells the others where they begin
// through shared memory (Indigo's syncBug).
// RACE 1: read-write race, shared, can-overlap -- the lanes read where the slots begin before it is there
// FIXED: __syncwarp() around it
#include "../corpus.h"

template <bool FIXED> __global__ void collect(const int *degree, int *length, int *slot)
{
    __shared__ int first[2];
    int v = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned wanted = __ballot_sync(~0u, degree[v] >= 5);
    if (lane == 0)
        first[warp] = atomicAdd(length, __popc(wanted)); // SIDE 1
    if constexpr (FIXED)
        __syncwarp(); // FIX
    if (wanted >> lane & 1)
        slot[v] = 1 + first[warp] + __popc(wanted & ((1u << lane) - 1)); // SIDE 1
}

static int test(bool fixed)
{
    const int n = 128;
    std::vector<int> degrees(n);
    for (int v = 0; v < n; v++)
        degrees[v] = 3 * v % 10;
    Buffer<int> degree(degrees), length(1), slot(n);
    LAUNCH(collect, 2, 64, degree, length, slot);
    std::vector<int> taken(n + 1), got = slot.host();
    for (int v = 0; v < n; v++)
        taken[got[v]]++;
    return count_wrong(taken, [](size_t k) { return k ? k <= 64 : 64; });
}

CORPUS_MAIN(test)
