// SPDX-License-Identifier: Apache-2.0
// With --default-stream per-thread every host thread has a default stream of its own; joining a thread does not wait for its stream.
// NVCC: --default-stream per-thread
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the kernels are in the default streams of two threads
// FIXED: the thread waits for its stream before it ends
#include <thread>

#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
}

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128), b(128);
    std::thread([&] {
        fill<<<2, 64>>>(a);
        if (fixed) CHECK(cudaStreamSynchronize(0)); // FIX
    }).join();
    twice<<<2, 64>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
