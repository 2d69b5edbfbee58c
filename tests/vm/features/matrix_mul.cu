// SPDX-License-Identifier: Apache-2.0
// matrixMul: tiles in shared memory, two tile sizes, rectangular matrices, warm-up and a timed loop in a stream.
#include "../../check.h"

template <int TILE> __global__ void multiply(float *C, const float *A, const float *B, int wA, int wB)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < wA; k0 += TILE) {
        a[ty][tx] = A[row * wA + k0 + tx];
        b[ty][tx] = B[(k0 + ty) * wB + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[row * wB + col] = sum;
}

template <int TILE> static void run()
{
    const int hA = 2 * 32, wA = 3 * 32, wB = 4 * 32;
    static float a[hA * wA], b[wA * wB], c[hA * wB];
    for (int i = 0; i < hA * wA; i++)
        a[i] = 1.0f;
    for (int i = 0; i < wA * wB; i++)
        b[i] = 0.01f;
    float *A, *B, *C, ms = 0;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    CHECK(cudaMalloc(&A, sizeof a));
    CHECK(cudaMalloc(&B, sizeof b));
    CHECK(cudaMalloc(&C, sizeof c));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMemcpyAsync(A, a, sizeof a, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(B, b, sizeof b, cudaMemcpyHostToDevice, stream));
    dim3 threads(TILE, TILE), grid(wB / TILE, hA / TILE);
    multiply<TILE><<<grid, threads, 0, stream>>>(C, A, B, wA, wB);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventRecord(start, stream));
    for (int i = 0; i < 3; i++)
        multiply<TILE><<<grid, threads, 0, stream>>>(C, A, B, wA, wB);
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    EXPECT(ms > 0);
    CHECK(cudaMemcpyAsync(c, C, sizeof c, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (float v : c)
        EXPECT(fabsf(v - wA * 0.01f) / wA < 1e-6f);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
}

int main()
{
    run<16>();
    run<32>();
    return finish();
}
