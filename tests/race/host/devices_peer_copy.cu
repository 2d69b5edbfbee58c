// SPDX-License-Identifier: Apache-2.0
// cudaMemcpyPeer comes after all earlier work of both devices, and before all later work (CUDA runtime API, cudaMemcpyPeer).
// DEVICES: 2
// CLEAN -- the copy orders the kernels on the two devices
#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // NEVER
}

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // NEVER
}

static int test(bool) {
    Buffer<int> a(128);
    CHECK(cudaSetDevice(1));
    Buffer<int> copy(128), b(128);
    CHECK(cudaSetDevice(0));
    fill<<<2, 64>>>(a);
    CHECK(cudaMemcpyPeer(copy, 1, a, 0, a.bytes()));
    fill<<<2, 64>>>(a);
    CHECK(cudaSetDevice(1));
    twice<<<2, 64>>>(copy, b);
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
