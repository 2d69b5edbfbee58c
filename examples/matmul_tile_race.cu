// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Tiled matrix multiplication without the second barrier: a fast warp loads the next tile over the one that slower warps
// still multiply.
#include "example.h"

#define N 64
#define TILE 16

__global__ void matmul(const float *A, const float *B, float *C)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < N; k0 += TILE) {
        a[ty][tx] = A[row * N + k0 + tx]; // OTHER
        b[ty][tx] = B[(k0 + ty) * N + col]; // OTHER
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[ty][k] * b[k][tx]; // RACE: clobbered read
    }
    C[row * N + col] = sum; // NEVER
}

int main()
{
    static float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(scramble(i) % 32);
        b[i] = (float)(scramble(i + N * N) % 32);
    }
    float *A, *B, *C;
    CUDA_CHECK(cudaMalloc(&A, sizeof a));
    CUDA_CHECK(cudaMalloc(&B, sizeof b));
    CUDA_CHECK(cudaMalloc(&C, sizeof c));
    CUDA_CHECK(cudaMemcpy(A, a, sizeof a, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(B, b, sizeof b, cudaMemcpyHostToDevice));
    matmul<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(A, B, C);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(c, C, sizeof c, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            float sum = 0; // small integers: exact in any order
            for (int k = 0; k < N; k++)
                sum += a[y * N + k] * b[k * N + x];
            wrong += c[y * N + x] != sum;
        }
    CUDA_CHECK(cudaFree(A));
    CUDA_CHECK(cudaFree(B));
    CUDA_CHECK(cudaFree(C));
    return finish_undefined("matmul_tile", wrong);
}
