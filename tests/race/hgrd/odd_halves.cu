// SPDX-License-Identifier: Apache-2.0
// Two launches in two streams, each for a half of the array, both rounded so that nothing is left out: the middle of
// an odd number of elements belongs to both.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- both launches add to the element in the middle
// RACE 2: write-write race, global, can-overlap, launches 1 and 2 -- the same, of the two stores
// FIXED: the second half begins where the first one ends
#include "../corpus.h"

constexpr int N = 101, THREADS = 64;

__global__ void add(int *data, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] += value; // SIDE 1 2
    }
}

static int test(bool fixed) {
    Buffer<int> data(N);
    cudaStream_t stream[2];
    int half = (N + 1) / 2, begin = N / 2;
    if (fixed) begin = half; // FIX
    for (int s = 0; s < 2; s++) {
        CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
    }
    add<<<1, THREADS, 0, stream[0]>>>(data, half, 10);
    add<<<1, THREADS, 0, stream[1]>>>(data + begin, N - begin, 20);
    for (int s = 0; s < 2; s++) {
        CHECK(cudaStreamSynchronize(stream[s]));
        CHECK(cudaStreamDestroy(stream[s]));
    }
    return count_wrong(data.host(), [=](int i) { return i < half ? 10 : 20; });
}

CORPUS_MAIN(test)
