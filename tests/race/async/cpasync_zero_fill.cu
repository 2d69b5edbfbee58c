// SPDX-License-Identifier: Apache-2.0
// cp.async with a source size of 4 of 16 bytes fills the rest with zeros, and does not read the rest of the source.
// CLEAN -- the words that other threads write meanwhile are not read
#include "async.h"

__global__ void copy(int *data, int *out) {
    __shared__ int4 tile[32];
    int t = threadIdx.x;
    if (t < 32) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, 4;" ::"r"(SHARED(&tile[t])), "l"(&data[4 * t]) : "memory"); // NEVER
        CP_COMMIT();
        CP_WAIT(0);
        out[t] = tile[t].x + tile[t].y + tile[t].z + tile[t].w;
    } else {
        data[4 * (t - 32) + 1] = 1000; // NEVER
    }
}

static int test(bool) {
    Buffer<int> in(numbers(128)), out(32);
    copy<<<1, 64>>>(in, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return 4 * i + 1; });
}

CORPUS_MAIN(test)
