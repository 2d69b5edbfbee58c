// SPDX-License-Identifier: Apache-2.0
// Work is forked to three streams and joined again, but for one.
// RACE 1: read-write race, global, can-overlap, launches 3 and 4 -- the third worker's event is not waited for
// FIXED: joins all
#include "host.h"

__global__ void work(int *a, int part) {
    a[32 * part + threadIdx.x] = part + 1; // SIDE 1
}

__global__ void sum(const int *a, int *b) {
    b[threadIdx.x] = a[threadIdx.x] + a[32 + threadIdx.x] + a[64 + threadIdx.x]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(96), b(32);
    Stream main, worker[3];
    Event begun, done[3];
    begun.record(main);
    for (int k = 0; k < 3; k++) {
        begun.order(worker[k]);
        work<<<1, 32, 0, worker[k]>>>(a, k);
        done[k].record(worker[k]);
    }
    for (int k = 0; k < (fixed ? 3 : 2); k++) { // FIX
        done[k].order(main);
    }
    sum<<<1, 32, 0, main>>>(a, b);
    return count_wrong(b.host(), [](int) { return 6; });
}

CORPUS_MAIN(test)
