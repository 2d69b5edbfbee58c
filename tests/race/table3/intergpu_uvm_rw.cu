// SPDX-License-Identifier: Apache-2.0
// Inter-GPU UVM RW (SuperCollider, table 3): a GPU reads managed memory before the other GPU is done writing it.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- launches on two devices, and nothing between them
// FIXED: the second device's stream waits for an event of the first's
// DEVICES: 2
#include "../corpus.h"

template <bool FIXED> __global__ void produce(int *data) {
    data[threadIdx.x] = threadIdx.x + 1; // SIDE 1
}

template <bool FIXED> __global__ void consume(const int *data, int *out) {
    out[threadIdx.x] = data[threadIdx.x]; // SIDE 1
}

static int test(bool fixed) {
    int *data, wrong = 0;
    cudaEvent_t done;
    CHECK(cudaMallocManaged(&data, 128 * sizeof *data));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    LAUNCH_ASYNC(produce, 1, 64, 0, 0, data);
    CHECK(cudaEventRecord(done));
    CHECK(cudaSetDevice(1));
    if (fixed) CHECK(cudaStreamWaitEvent(0, done)); // FIX
    LAUNCH_ASYNC(consume, 1, 64, 0, 0, data, data + 64);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        wrong += data[64 + i] != i + 1;
    }
    return wrong;
}

CORPUS_MAIN(test)
