// SPDX-License-Identifier: Apache-2.0
// cudaMemcpy between pinned host memory and the device returns when it is done: who launches after it comes after it, in any stream.
// CLEAN -- the host has waited for the copy, and later for the kernel's event
#include "host.h"

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // NEVER
}

static int test(bool) {
    Buffer<int> a(128), b(128);
    Pinned from(128, 1), to(128);
    Stream one;
    Event done;
    CHECK(cudaMemcpy(a, from, a.bytes(), cudaMemcpyHostToDevice));
    twice<<<2, 64, 0, one>>>(a, b);
    done.record(one);
    CHECK(cudaEventSynchronize(done));
    CHECK(cudaMemcpy(to, b, b.bytes(), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < 128; i++) {
        wrong += to[i] != 2 * (128 - i);
    }
    return wrong;
}

CORPUS_MAIN(test)
