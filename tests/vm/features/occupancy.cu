// SPDX-License-Identifier: Apache-2.0
// simpleOccupancy: what a kernel is like and how many blocks of it fit; launching with what was proposed.
#include "../../check.h"

__global__ void square(int *a, int n)
{
    extern __shared__ int shared[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        shared[threadIdx.x] = a[i];
        a[i] *= shared[threadIdx.x];
    }
}

__global__ void __launch_bounds__(128) bounded(int *a)
{
    __shared__ int fixed[100];
    if (threadIdx.x < 100)
        fixed[threadIdx.x] = 1;
    __syncthreads();
    a[threadIdx.x] = fixed[(threadIdx.x + 1) % 100];
}

int main()
{
    const int n = 10000;
    cudaFuncAttributes f;
    CHECK(cudaFuncGetAttributes(&f, square));
    EXPECT_EQ(f.maxThreadsPerBlock, 1024);
    EXPECT_EQ(f.sharedSizeBytes, 0);
    EXPECT(f.ptxVersion >= 75);
    CHECK(cudaFuncGetAttributes(&f, bounded));
    EXPECT_EQ(f.maxThreadsPerBlock, 128);
    EXPECT_EQ(f.sharedSizeBytes, 400);
    int blocks = 0, grid = 0, size = 0, multiprocessors = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, square, 256, 0));
    EXPECT(blocks >= 1 && blocks <= 8);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, square, 64, 40 * 1024));
    EXPECT(blocks >= 1 && blocks <= 8);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, square, 0, 0));
    EXPECT(size >= 32 && size <= 1024 && size % 32 == 0);
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(grid >= multiprocessors);
    CHECK(cudaFuncSetAttribute(square, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
    int a[n], *d;
    for (int i = 0; i < n; i++)
        a[i] = i % 1000;
    CHECK(cudaMalloc(&d, sizeof a));
    CHECK(cudaMemcpy(d, a, sizeof a, cudaMemcpyHostToDevice));
    square<<<(n + size - 1) / size, size, 60 * 1024>>>(d, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(a, d, sizeof a, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT_EQ(a[i], (i % 1000) * (i % 1000));
    bounded<<<1, 256>>>(d);
    EXPECT(cudaGetLastError() != cudaSuccess); // more threads than __launch_bounds__ promised
    CHECK(cudaFree(d));
    return finish();
}
