// SPDX-License-Identifier: Apache-2.0
// Two kernels in two streams count in the same bins, each a single block and therefore with atomics of block scope.
// RACE 1: insufficient scope, global, can-overlap, launches 1 and 2, scope cta -- the other launch is another block
// FIXED: atomics of the device's scope
#include "host.h"

template <bool FIXED> __global__ void count(int *bins) {
    if constexpr (FIXED) {
        atomicAdd(&bins[threadIdx.x % 4], 1); // FIX
    } else {
        atomicAdd_block(&bins[threadIdx.x % 4], 1); // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> bins(4);
    Stream one, other;
    LAUNCH_ASYNC(count, 1, 64, 0, one, bins);
    LAUNCH_ASYNC(count, 1, 64, 0, other, bins);
    return count_wrong(bins.host(), [](int) { return 32; });
}

CORPUS_MAIN(test)
