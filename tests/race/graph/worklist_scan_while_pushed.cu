// SPDX-License-Identifier: Apache-2.0
// A worklist that is worked off while it grows: threads go on to its end as they see it, by a plain load, and append to it by atomics.
// RACE 1: read-write race, global, can-overlap -- the length is loaded weakly while others raise it
// RACE 2: read-write race, global, can-overlap -- an entry is read that is counted but not known to be there
// FIXED: one launch for each level: the length before it is the end
#include "../corpus.h"

template <bool FIXED> __global__ void expand(int from, int end, int *length, int *list)
{
    int k = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (!FIXED)
        end = *length; // SIDE 1
    if (k >= end) // FIX
        return;
    int v = list[k]; // SIDE 2
    for (int child = 2 * v; child < 2 * v + 2; child++)
        if (child < 64)
            list[atomicAdd(length, 1)] = child; // SIDE 1 2
}

static int test(bool fixed)
{
    std::vector<int> roots(2048, 1);
    Buffer<int> list(roots), length(std::vector<int>{1});
    for (int from = 0, end = 1, level = 0; from < end && level < 8; level++) {
        LAUNCH(expand, 4, 16, from, end, length, list);
        from = end;
        end = length.host()[0];
    }
    std::vector<int> times(64), found = list.host();
    for (int k = 0; k < 63; k++)
        times[found[k] % 64]++;
    return count_wrong(times, [](size_t v) { return v > 0; });
}

CORPUS_MAIN(test)
