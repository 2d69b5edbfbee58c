// SPDX-License-Identifier: Apache-2.0
// Two kernels in two streams count in the same bins, with atomics of the device's scope.
// CLEAN -- atomics need no order among launches of one device
#include "host.h"

__global__ void count(int *bins) {
    atomicAdd(&bins[threadIdx.x % 4], 1); // NEVER
}

static int test(bool) {
    Buffer<int> bins(4);
    Stream one, other;
    count<<<2, 64, 0, one>>>(bins);
    count<<<2, 64, 0, other>>>(bins);
    return count_wrong(bins.host(), [](int) { return 64; });
}

CORPUS_MAIN(test)
