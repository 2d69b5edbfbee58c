// SPDX-License-Identifier: Apache-2.0
// A kernel counts with atomics, another reads the counters in another stream with plain loads.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the load is not atomic, and nothing orders it
// FIXED: an event
#include "host.h"

__global__ void count(int *bins) {
    atomicAdd(&bins[threadIdx.x % 4], 1); // SIDE 1
}

__global__ void read(const int *bins, int *out) {
    out[threadIdx.x] = bins[threadIdx.x]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> bins(4), out(4);
    Stream one, other;
    Event counted;
    count<<<2, 64, 0, one>>>(bins);
    counted.record(one);
    if (fixed) counted.order(other); // FIX
    read<<<1, 4, 0, other>>>(bins, out);
    return count_wrong(out.host(), [](int) { return 32; });
}

CORPUS_MAIN(test)
