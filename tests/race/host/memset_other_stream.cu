// SPDX-License-Identifier: Apache-2.0
// Counters are cleared in one stream and counted up in another.
// RACE 1: write-write race, global, can-overlap, launch 1, with memset -- an atomic is no help against a memset
// FIXED: an event
#include "host.h"

__global__ void count(int *bins) {
    atomicAdd(&bins[threadIdx.x % 4], 1); // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> bins(4, 1);
    Stream one, other;
    Event cleared;
    CHECK(cudaMemsetAsync(bins, 0, bins.bytes(), one));
    cleared.record(one);
    if (fixed) cleared.order(other); // FIX
    count<<<2, 64, 0, other>>>(bins);
    return count_wrong(bins.host(), [](int) { return 32; });
}

CORPUS_MAIN(test)
