// SPDX-License-Identifier: Apache-2.0
// luDecomposition (HGRD, table 3 and figure 4; Rodinia): an integer matrix of unit diagonal is factored in place, a
// column of tiles at a time. The offset of a launch is the loop variable of the host: never negative, in steps of T.
// CLEAN -- threads of the inner kernel write elements beyond row and column offset + T, and read before them
#include "../corpus.h"

constexpr int T = 4, N = 12;

__global__ void diagonal(int *m, int dim, int offset) {
    int t = threadIdx.x;
    for (int k = 0; k < T - 1; k++) {
        if (t > k && t < T) {
            for (int c = k + 1; c < T; c++) { // row t loses its part of row k; the pivots are 1
                m[(offset + t) * dim + offset + c] -=
                    m[(offset + t) * dim + offset + k] * m[(offset + k) * dim + offset + c]; // NEVER
            }
        }
        __syncwarp();
    }
}

__global__ void perimeter(int *m, int dim, int offset) {
    int far = offset + (blockIdx.x + 1) * T, t = threadIdx.x % T;
    for (int k = 0; k < T - 1; k++) {
        for (int i = k + 1; i < T; i++) {
            if (threadIdx.x < T) { // a column of the tile to the right
                m[(offset + i) * dim + far + t] -=
                    m[(offset + i) * dim + offset + k] * m[(offset + k) * dim + far + t]; // NEVER
            } else { // a row of the tile below
                m[(far + t) * dim + offset + i] -=
                    m[(far + t) * dim + offset + k] * m[(offset + k) * dim + offset + i]; // NEVER
            }
        }
    }
}

__global__ void inner(int *m, int dim, int offset) {
    int row = offset + (blockIdx.y + 1) * T + threadIdx.y, col = offset + (blockIdx.x + 1) * T + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < T; k++) {
        sum += m[row * dim + offset + k] * m[(offset + k) * dim + col]; // NEVER
    }
    m[row * dim + col] -= sum; // NEVER
}

static int test(bool) {
    std::vector<int> lower(N * N), upper(N * N), product(N * N);
    for (int i = 0; i < N * N; i++) {
        lower[i] = i / N == i % N ? 1 : i / N > i % N ? i % 3 - 1 : 0;
        upper[i] = i / N == i % N ? 1 : i / N < i % N ? i % 4 - 1 : 0;
    }
    for (int i = 0; i < N * N * N; i++) {
        product[i / N] += lower[i / N / N * N + i % N] * upper[i % N * N + i / N % N];
    }
    Buffer<int> m(product);
    for (int offset = 0; offset < N; offset += T) {
        int tiles = (N - offset) / T - 1;
        diagonal<<<1, T>>>(m, N, offset);
        if (tiles > 0) {
            perimeter<<<tiles, 2 * T>>>(m, N, offset);
            inner<<<dim3(tiles, tiles), dim3(T, T)>>>(m, N, offset);
        }
    }
    CHECK(cudaGetLastError());
    return count_wrong(m.host(), [&](int i) { return i / N > i % N ? lower[i] : upper[i]; });
}

CORPUS_MAIN(test)
