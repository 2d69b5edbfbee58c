// SPDX-License-Identifier: Apache-2.0
// A matrix product whose tiles come by cp.async, several stages ahead.
// ARGS: 128 2
#include <cstdio>
#include <cstdlib>
#include <cuda_pipeline.h>
#include <vector>

enum { TILE = 16, STAGES = 4 };

__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float as[STAGES][TILE][TILE], bs[STAGES][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx, tiles = n / TILE;
    auto fetch = [&](int t) {
        if (t < tiles) {
            __pipeline_memcpy_async(&as[t % STAGES][ty][tx], &a[row * n + t * TILE + tx], 4);
            __pipeline_memcpy_async(&bs[t % STAGES][ty][tx], &b[(t * TILE + ty) * n + col], 4);
        }
        __pipeline_commit();
    };
    for (int t = 0; t < STAGES - 1; t++)
        fetch(t);
    float sum = 0;
    for (int t = 0; t < tiles; t++) {
        fetch(t + STAGES - 1);
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[t % STAGES][ty][k] * bs[t % STAGES][k][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 128, launches = argc > 2 ? atoi(argv[2]) : 1, wrong = 0;
    std::vector<float> a(n * n), c(n * n);
    float *da, *db, *dc;
    for (int k = 0; k < n * n; k++)
        a[k] = (float)(k * 7 % 5);
    cudaMalloc(&da, n * n * 4);
    cudaMalloc(&db, n * n * 4);
    cudaMalloc(&dc, n * n * 4);
    cudaMemcpy(da, a.data(), n * n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(db, a.data(), n * n * 4, cudaMemcpyHostToDevice);
    for (int k = 0; k < launches; k++)
        multiply<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(da, db, dc, n);
    cudaMemcpy(c.data(), dc, n * n * 4, cudaMemcpyDeviceToHost);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[y * n + k] * a[k * n + x];
            wrong += sum != c[y * n + x];
        }
    puts(wrong ? "FAIL" : "PASS");
}
