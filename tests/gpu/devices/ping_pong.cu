// SPDX-License-Identifier: Apache-2.0
// Kernels of two devices take turns at a counter in the memory of the first, by a flag in pinned memory.
// DEVICES: 2
// CLEAN -- acquire and release of the system's scope order each turn behind the one before
#include "../../race/host/host.h"

__global__ void turns(int *flag, int *count, int first) {
    for (int mine = first, turn; mine < 40; mine += 2) {
        do {
            asm volatile("ld.acquire.sys.s32 %0, [%1];" : "=r"(turn) : "l"(flag) : "memory"); // NEVER
        } while (turn != mine);
        *count += 1; // NEVER
        asm volatile("st.release.sys.s32 [%0], %1;" ::"l"(flag), "r"(mine + 1) : "memory"); // NEVER
    }
}

static int test(bool) {
    Buffer<int> count(1);
    Pinned flag(1);
    Stream one;
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    Stream other;
    CHECK(cudaSetDevice(0));
    turns<<<1, 1, 0, one>>>(flag, count, 0);
    CHECK(cudaSetDevice(1));
    turns<<<1, 1, 0, other>>>(flag, count, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    return count_wrong(count.host(), [](int) { return 40; });
}

CORPUS_MAIN(test)
