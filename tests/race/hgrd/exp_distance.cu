// SPDX-License-Identifier: Apache-2.0
// expDistance (HGRD, table 3; HeCBench): a score of all pairs of points of two sets, cross terms first, summed up by a
// kernel whose thread 0 writes the score. It is always launched with one block.
// CLEAN -- the sum's kernel has one block (GKLEE, GPUVerify and FaialAA report its store)
#include "../corpus.h"

constexpr int N = 48;

__global__ void cross(const int *a, const int *b, int *term) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (i < N) {
        int d = a[i] - b[j];
        term[j * N + i] = 4096 >> min(d * d, 12); // NEVER
    }
}

__global__ void total(const int *term, int *score, int terms) {
    __shared__ int sum[2];
    int mine = 0, t = threadIdx.x;
    for (int i = t; i < terms; i += blockDim.x) {
        mine += term[i]; // NEVER
    }
    mine = __reduce_add_sync(0xffffffffu, mine);
    if (t % 32 == 0) {
        sum[t / 32] = mine; // NEVER
    }
    __syncthreads();
    if (t == 0) {
        *score = sum[0] + sum[1]; // NEVER
    }
}

static int test(bool) {
    std::vector<int> a(N), b(N);
    int expected = 0;
    for (int i = 0; i < N; i++) {
        a[i] = i * 5 % 16, b[i] = i * 11 % 16;
    }
    for (int i = 0; i < N * N; i++) {
        int d = a[i % N] - b[i / N];
        expected += 4096 >> (d * d < 12 ? d * d : 12);
    }
    Buffer<int> da(a), db(b), term(N * N), score(1);
    cross<<<dim3(2, N), 32>>>(da, db, term);
    total<<<1, 64>>>(term, score, N * N);
    CHECK(cudaGetLastError());
    return score.host()[0] != expected;
}

CORPUS_MAIN(test)
