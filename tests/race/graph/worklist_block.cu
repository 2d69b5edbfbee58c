// SPDX-License-Identifier: Apache-2.0
// Pattern populate worklist, a block at a time: slots are counted in shared memory, the first thread takes that many from the
// list, and everybody fills theirs.
// RACE 1: read-write race, shared, can-overlap -- the first thread takes slots before all have counted
// FIXED: a barrier between counting and taking
#include "../corpus.h"

template <bool FIXED> __global__ void collect(const int *degree, int *length, int *list)
{
    __shared__ int count, first;
    int v = blockIdx.x * blockDim.x + threadIdx.x, slot = -1;
    if (threadIdx.x == 0)
        count = 0; // NEVER
    __syncthreads();
    if (degree[v] >= 5)
        slot = atomicAdd(&count, 1); // SIDE 1
    if constexpr (FIXED)
        __syncthreads(); // FIX
    if (threadIdx.x == 0)
        first = atomicAdd(length, 32 * ((count + 31) / 32)); // SIDE 1
    __syncthreads();
    if (slot >= 0)
        list[64 * blockIdx.x + slot] = v + 1000 * (first % 32); // NEVER
}

static int test(bool fixed)
{
    const int n = 128;
    std::vector<int> degrees(n);
    long expected = 0, got = 0;
    for (int v = 0; v < n; v++) {
        degrees[v] = 3 * v % 10;
        expected += degrees[v] >= 5 ? v : 0;
    }
    Buffer<int> degree(degrees), length(1), list(n);
    LAUNCH(collect, 2, 64, degree, length, list);
    for (int v : list.host())
        got += v;
    return got != expected || length.host()[0] != 64;
}

CORPUS_MAIN(test)
