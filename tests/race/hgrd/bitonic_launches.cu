// SPDX-License-Identifier: Apache-2.0
// Arguments from two nested loops of the host: a bitonic sort, one step in each launch. A thread may swap two elements
// far apart in place, and no thread checks whose they are.
// CLEAN -- i and i ^ distance are a pair that only the smaller one's thread touches; the launches follow each other
#include "../corpus.h"

constexpr int N = 64;

__global__ void step(int *data, int distance, int run) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ distance;
    if (partner > i) {
        int a = data[i], b = data[partner]; // NEVER
        if ((a > b) == ((i & run) == 0)) {
            data[i] = b;       // NEVER
            data[partner] = a; // NEVER
        }
    }
}

static int test(bool) {
    std::vector<int> values(N);
    for (int i = 0; i < N; i++) {
        values[i] = (i * 27 + 5) % N;
    }
    Buffer<int> data(values);
    for (int run = 2; run <= N; run *= 2) {
        for (int distance = run / 2; distance > 0; distance /= 2) {
            step<<<2, N / 2>>>(data, distance, run);
        }
    }
    CHECK(cudaGetLastError());
    return count_wrong(data.host(), [](int i) { return i; });
}

CORPUS_MAIN(test)
