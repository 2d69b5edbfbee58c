// SPDX-License-Identifier: Apache-2.0
// twins repaired|racy N: a product of N x N matrices by tiles; the racy one lacks the second barrier of the loop. Races that are known cost nothing.
// ARGS: repaired 64
// GROWS: repaired 256 | racy 256
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum { T = 16 };

template <bool RACY> __global__ void matmul(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float ta[T][T], tb[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float acc = 0;
    for (int t = 0; t < n / T; t++) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t * T + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t * T + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++)
            acc += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        if (!RACY)
            __syncthreads();
    }
    c[row * n + col] = acc;
}

int main(int argc, char **argv) {
    bool racy = argc > 1 && !strcmp(argv[1], "racy");
    int n = argc > 2 ? atoi(argv[2]) : 64;
    size_t bytes = sizeof(float) * n * n;
    float *a, *b, *c;
    std::vector<float> h((size_t)n * n, 1.0f);
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaMemcpy(a, h.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, h.data(), bytes, cudaMemcpyHostToDevice);
    (racy ? matmul<true> : matmul<false>)<<<dim3(n / T, n / T), dim3(T, T)>>>(a, b, c, n);
    cudaMemcpy(h.data(), c, bytes, cudaMemcpyDeviceToHost);
    if (cudaDeviceSynchronize() != cudaSuccess || !racy && h[0] != (float)n)
        return printf("c[0] is %g\n", h[0]), 1;
    printf("PASS\n");
}
