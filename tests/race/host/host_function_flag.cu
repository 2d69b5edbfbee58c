// SPDX-License-Identifier: Apache-2.0
// A host function in a stream sets a flag; the program sees it and launches in another stream. The order is real: stream, host function, host.
// CLEAN -- the host function runs after the kernel, and the launch after the host function
#include <atomic>

#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // NEVER
}

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // NEVER
}

static std::atomic<bool> flag;

static int test(bool) {
    Buffer<int> a(128), b(128);
    Stream one, other;
    fill<<<2, 64, 0, one>>>(a);
    CHECK(cudaLaunchHostFunc(one, [](void *) { flag = true; }, nullptr));
    while (!flag) {
        cudaStreamQuery(other); // lets the device go on
    }
    twice<<<2, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
