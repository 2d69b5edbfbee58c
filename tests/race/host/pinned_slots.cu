// SPDX-License-Identifier: Apache-2.0
// Inputs go through two pinned slots in turn, so that the host fills one while the other is copied. It never waits for a slot.
// RACE 1: read-write race, global, can-overlap, with copy and host -- a slot is filled again while its copy may be pending
// FIXED: waits for the event of the copy before last
#include "host.h"

__global__ void add(const int *input, int *total) {
    total[threadIdx.x] += input[31 - threadIdx.x]; // NEVER
}

static int test(bool fixed) {
    Buffer<int> input(32), total(32);
    Pinned slots(64);
    Stream one;
    Event copied[4];
    for (int k = 0; k < 4; k++) {
        int *slot = slots + 32 * (k % 2);
        if (fixed && k >= 2) CHECK(cudaEventSynchronize(copied[k - 2])); // FIX
        for (int i = 0; i < 32; i++) {
            slot[i] = i + k;
        }
        CHECK(cudaMemcpyAsync(input, slot, 128, cudaMemcpyHostToDevice, one));
        copied[k].record(one);
        add<<<1, 32, 0, one>>>(input, total);
    }
    return count_wrong(total.host(), [](int i) { return 4 * (31 - i) + 6; });
}

CORPUS_MAIN(test)
