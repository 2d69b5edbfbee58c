// SPDX-License-Identifier: Apache-2.0
// Input goes through one pinned buffer, which the host fills again while the copy to the device may still read it.
// RACE 1: read-write race, global, can-overlap, with copy and host -- cudaMemcpyAsync from pinned memory returns at once
// FIXED: waits for the copy
#include "host.h"

__global__ void add(const int *input, int *total) {
    total[threadIdx.x] += input[31 - threadIdx.x]; // NEVER
}

static int test(bool fixed) {
    Buffer<int> input(32), total(32);
    Pinned staging(32, 1);
    Stream one;
    Event copied;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; k && i < 32; i++) {
            staging[i] = 100;
        }
        CHECK(cudaMemcpyAsync(input, staging, 128, cudaMemcpyHostToDevice, one));
        copied.record(one);
        add<<<1, 32, 0, one>>>(input, total);
        if (fixed) CHECK(cudaEventSynchronize(copied)); // FIX
    }
    return count_wrong(total.host(), [](int i) { return 132 - i; });
}

CORPUS_MAIN(test)
