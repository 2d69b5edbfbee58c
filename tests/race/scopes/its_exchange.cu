// SPDX-License-Identifier: Apache-2.0
// Neighbouring lanes exchange values through shared memory, relying on lockstep (iGUARD, section 3.2).
// RACE 1: read-write race, shared, can-overlap -- nothing makes a lane wait for its neighbour's store
// FIXED: __syncwarp() between store and load
#include "../corpus.h"

template <bool FIXED> __global__ void exchange(int *a)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = a[i]; // SIDE 1
    if constexpr (FIXED)
        __syncwarp(); // FIX
    a[i] = s[t ^ 1]; // SIDE 1
}

static int test(bool fixed)
{
    std::vector<int> values(128);
    for (int i = 0; i < 128; i++)
        values[i] = i;
    Buffer<int> a(values);
    LAUNCH(exchange, 2, 64, a);
    return count_wrong(a.host(), [](size_t i) { return i ^ 1; });
}

CORPUS_MAIN(test)
