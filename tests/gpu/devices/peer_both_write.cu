// SPDX-License-Identifier: Apache-2.0
// A kernel stores to its device's memory, and a kernel of the other device to the same place through peer access.
// DEVICES: 2
// RACE 1: write-write race, global, can-overlap, launches 1 and 2 -- two devices are two streams
// FIXED: the second kernel waits for an event of the first device
#include "../../race/host/host.h"

__global__ void stores(int *a, int mark) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int turn = 0; turn < 20; turn++) {
        a[i] = mark + turn; // SIDE 1
        asm volatile("" ::: "memory");
    }
}

static int test(bool fixed) {
    Buffer<int> a(128);
    Stream one;
    Event done;
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    Stream other;
    CHECK(cudaSetDevice(0));
    stores<<<2, 64, 0, one>>>(a, 100);
    done.record(one);
    CHECK(cudaSetDevice(1));
    if (fixed) done.order(other); // FIX
    stores<<<2, 64, 0, other>>>(a, 200);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    return count_wrong(a.host(), [](int) { return 219; });
}

CORPUS_MAIN(test)
