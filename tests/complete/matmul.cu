// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication, C = alpha A B + beta C, with any sizes: tiles in two shared buffers (the next one is loaded while
// one is used), each thread an 4 x 4 piece in registers; float, double and int from one template.
#include "complete.h"

const int TILE = 32, DEPTH = 8, PIECE = 4, SIDE = TILE / PIECE; // SIDE x SIDE threads

template <class T>
__global__ void gemm(int m, int n, int k, T alpha, const T *__restrict__ a, const T *__restrict__ b, T beta, T *c)
{
    __shared__ T as[2][DEPTH][TILE + 1], bs[2][DEPTH][TILE];
    int t = threadIdx.y * SIDE + threadIdx.x, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    auto load = [&](int buffer, int k0) {
        for (int i = t; i < TILE * DEPTH; i += SIDE * SIDE) {
            int r = i / DEPTH, d = i % DEPTH;
            as[buffer][d][r] = row0 + r < m && k0 + d < k ? a[(row0 + r) * k + k0 + d] : T(0);
            int e = i / TILE, col = i % TILE;
            bs[buffer][e][col] = col0 + col < n && k0 + e < k ? b[(k0 + e) * n + col0 + col] : T(0);
        }
    };
    T sum[PIECE][PIECE] = {};
    load(0, 0);
    __syncthreads();
    for (int k0 = 0, buffer = 0; k0 < k; k0 += DEPTH, buffer ^= 1) {
        if (k0 + DEPTH < k)
            load(!buffer, k0 + DEPTH);
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            T x[PIECE], y[PIECE];
            for (int i = 0; i < PIECE; i++) {
                x[i] = as[buffer][d][threadIdx.y * PIECE + i];
                y[i] = bs[buffer][d][threadIdx.x * PIECE + i];
            }
            for (int i = 0; i < PIECE; i++)
                for (int j = 0; j < PIECE; j++)
                    sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < PIECE; i++)
        for (int j = 0; j < PIECE; j++) {
            int r = row0 + threadIdx.y * PIECE + i, col = col0 + threadIdx.x * PIECE + j;
            if (r < m && col < n)
                c[r * n + col] = alpha * sum[i][j] + beta * c[r * n + col];
        }
}

template <class T> void test(const char *name, double tolerance)
{
    const int m = 77, n = 101, k = 59;
    Random random(22);
    std::vector<T> a(m * k), b(k * n), c(m * n);
    for (auto *v : {&a, &b, &c})
        for (auto &e : *v)
            e = (T)((int)random.below(2001) - 1000) / (T)8;
    T *d_c = to_device(c), alpha = T(2), beta = T(-1);
    gemm<T><<<dim3(blocks_for(n, TILE), blocks_for(m, TILE)), dim3(SIDE, SIDE)>>>(m, n, k, alpha, to_device(a), to_device(b), beta, d_c);
    finish_launches();
    std::vector<double> want(m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += (double)a[i * k + l] * (double)b[l * n + j];
            want[i * n + j] = (double)alpha * sum + (double)beta * (double)c[i * n + j];
        }
    expect_near(name, from_device(d_c, m * n), want, tolerance);
}

int main()
{
    test<float>("float", 2e-4);
    test<double>("double", 1e-11);
    test<int>("int", 0);
    return finish();
}
