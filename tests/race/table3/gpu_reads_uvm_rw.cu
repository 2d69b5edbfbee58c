// SPDX-License-Identifier: Apache-2.0
// CPU-GPU UVM RW, the second row of that name (SuperCollider, table 3): the GPU reads managed memory while the CPU updates it.
// RACE 1: read-write race, global, can-overlap, with host -- the host stores while the kernel may still read
// FIXED: cudaDeviceSynchronize before the host's next update
#include "../corpus.h"

template <bool FIXED> __global__ void consume(const int *data, int *out) {
    out[threadIdx.x] = data[threadIdx.x]; // SIDE 1
}

static int test(bool fixed) {
    int *data;
    CHECK(cudaMallocManaged(&data, 64 * sizeof *data));
    Buffer<int> out(64);
    for (int i = 0; i < 64; i++) {
        data[i] = i + 1;
    }
    LAUNCH_ASYNC(consume, 1, 64, 0, 0, data, out);
    if (fixed) CHECK(cudaDeviceSynchronize()); // FIX
    for (int i = 0; i < 64; i++) {
        data[i] = -i;
    }
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
