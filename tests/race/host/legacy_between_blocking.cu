// SPDX-License-Identifier: Apache-2.0
// Two blocking streams with the legacy default stream between them: it waits for the one, and the other waits for it.
// CLEAN -- CUDA programming guide, "Default stream": the legacy stream synchronizes with blocking streams
#include "host.h"

__global__ void fill(int *a) {
    a[threadIdx.x] = threadIdx.x; // NEVER
}

__global__ void more(int *a) {
    a[63 - threadIdx.x] += 1; // NEVER
}

__global__ void twice(const int *a, int *b) {
    b[threadIdx.x] = 2 * a[(threadIdx.x + 5) % 64]; // NEVER
}

static int test(bool) {
    Buffer<int> a(64), b(64);
    Stream one(cudaStreamDefault), other(cudaStreamDefault);
    fill<<<1, 64, 0, one>>>(a);
    more<<<1, 64>>>(a);
    twice<<<1, 64, 0, other>>>(a, b);
    return count_wrong(b.host(), [](int i) { return 2 * ((i + 5) % 64 + 1); });
}

CORPUS_MAIN(test)
