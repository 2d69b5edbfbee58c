// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// One kernel fills a buffer in one stream, another reads it in another stream, which waits for an event of the first.
#include "example.h"

__global__ void fill(int *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i;
    for (int k = 0; k < 16; k++)
        v = v * 5 + k;
    a[i] = v | 1;
}

__global__ void consume(const int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[gridDim.x * blockDim.x - 1 - i] * 2;
}

int main()
{
    const int n = 4096;
    static int got[n];
    int *a, *b;
    cudaStream_t s1, s2;
    cudaEvent_t filled;
    CUDA_CHECK(cudaMalloc(&a, sizeof got));
    CUDA_CHECK(cudaMalloc(&b, sizeof got));
    CUDA_CHECK(cudaMemset(a, 0, sizeof got));
    CUDA_CHECK(cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreate(&filled));
    CUDA_CHECK(cudaDeviceSynchronize());
    fill<<<n / 128, 128, 0, s1>>>(a);
    CUDA_CHECK(cudaEventRecord(filled, s1));
    CUDA_CHECK(cudaStreamWaitEvent(s2, filled, 0));
    consume<<<n / 128, 128, 0, s2>>>(a, b);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(got, b, sizeof got, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        unsigned v = n - 1 - i;
        for (unsigned k = 0; k < 16; k++)
            v = v * 5 + k;
        wrong += (unsigned)got[i] != (v | 1) * 2;
    }
    CUDA_CHECK(cudaStreamDestroy(s1));
    CUDA_CHECK(cudaStreamDestroy(s2));
    CUDA_CHECK(cudaEventDestroy(filled));
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    return finish("streams", wrong);
}
