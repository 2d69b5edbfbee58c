// SPDX-License-Identifier: Apache-2.0
// The kernel that fills is in the stream of higher priority: a hint to the scheduler, and no order.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- priorities order nothing
// FIXED: an event
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
    int least, greatest;
    cudaStream_t high, low;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    Event filled;
    fill<<<2, 64, 0, high>>>(a);
    filled.record(high);
    if (fixed) filled.order(low); // FIX
    twice<<<2, 64, 0, low>>>(a, b);
    CHECK(cudaStreamDestroy(high));
    CHECK(cudaStreamDestroy(low));
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
