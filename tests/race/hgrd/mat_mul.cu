// SPDX-License-Identifier: Apache-2.0
// matMul (HGRD, table 3; ScoR): the sums of a product's tile are split among blocks, each of which adds its part to the
// result under the tile's lock.
// CLEAN -- atomicCAS and fence, fence and atomicExch, of one lock and device scope (GPUVerify reports five races)
#include "../corpus.h"

constexpr int T = 8, TILES = 2, N = T * TILES;

__global__ void multiply_part(const int *a, const int *b, int *c, int *locks) {
    __shared__ int part_a[T][T], part_b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x, sum = 0;
    part_a[y][x] = a[row * N + blockIdx.z * T + x];   // NEVER
    part_b[y][x] = b[(blockIdx.z * T + y) * N + col]; // NEVER
    __syncthreads();
    for (int k = 0; k < T; k++) {
        sum += part_a[y][k] * part_b[k][x]; // NEVER
    }
    int *lock = locks + blockIdx.y * TILES + blockIdx.x;
    if (x == 0 && y == 0) {
        while (atomicCAS(lock, 0, 1) != 0) { // NEVER
        }
        __threadfence();
    }
    __syncthreads();
    c[row * N + col] += sum; // NEVER
    __syncthreads();
    if (x == 0 && y == 0) {
        __threadfence();
        atomicExch(lock, 0); // NEVER
    }
}

static int test(bool) {
    std::vector<int> a(N * N), b(N * N);
    for (int i = 0; i < N * N; i++) {
        a[i] = i % 7 - 3, b[i] = i % 11 - 5;
    }
    Buffer<int> da(a), db(b), c(N * N), locks(TILES * TILES);
    multiply_part<<<dim3(TILES, TILES, TILES), dim3(T, T)>>>(da, db, c, locks);
    CHECK(cudaGetLastError());
    return count_wrong(c.host(), [&](int i) {
        int sum = 0;
        for (int k = 0; k < N; k++) {
            sum += a[i / N * N + k] * b[k * N + i % N];
        }
        return sum;
    });
}

CORPUS_MAIN(test)
