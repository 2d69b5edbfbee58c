// SPDX-License-Identifier: Apache-2.0
// Inputs go through two device buffers: copies in one stream, kernels in another, with an event for "full" and none for "free".
// RACE 1: read-write race, global, can-overlap, with copy -- the third copy does not wait until the first kernel has read its buffer
// FIXED: an event for "free"
#include "host.h"

__global__ void add(const int *input, int *total) {
    total[threadIdx.x] += input[31 - threadIdx.x]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> buffer(2 * 32), total(32);
    Pinned input(4 * 32, 1);
    Stream copies, kernels;
    Event full[4], empty[4];
    for (int k = 0; k < 4; k++) {
        int *slot = buffer + 32 * (k % 2);
        if (fixed && k >= 2) empty[k - 2].order(copies); // FIX
        CHECK(cudaMemcpyAsync(slot, input + 32 * k, 128, cudaMemcpyHostToDevice, copies));
        full[k].record(copies);
        full[k].order(kernels);
        add<<<1, 32, 0, kernels>>>(slot, total);
        empty[k].record(kernels);
    }
    return count_wrong(total.host(), [](int i) { return 4 * (32 - i) + 6 * 32; });
}

CORPUS_MAIN(test)
