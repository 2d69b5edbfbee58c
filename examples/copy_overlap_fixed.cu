// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// A kernel squares a buffer; the next input is copied into it in another stream that waits for the kernel.
#include "example.h"

__global__ void square(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * in[i];
}

int main()
{
    const int n = 4096;
    static int got[n];
    int *first, *second, *d_in, *d_out, wrong = 0;
    cudaStream_t compute, copy;
    cudaEvent_t squared;
    CUDA_CHECK(cudaMallocHost(&first, sizeof got));
    CUDA_CHECK(cudaMallocHost(&second, sizeof got));
    for (int i = 0; i < n; i++) {
        first[i] = i;
        second[i] = i + 1;
    }
    CUDA_CHECK(cudaMalloc(&d_in, sizeof got));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof got));
    CUDA_CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreate(&squared));
    CUDA_CHECK(cudaMemcpyAsync(d_in, first, sizeof got, cudaMemcpyHostToDevice, compute));
    CUDA_CHECK(cudaStreamSynchronize(compute));
    square<<<n / 128, 128, 0, compute>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(squared, compute));
    CUDA_CHECK(cudaStreamWaitEvent(copy, squared, 0));
    CUDA_CHECK(cudaMemcpyAsync(d_in, second, sizeof got, cudaMemcpyHostToDevice, copy));
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += got[i] != i * i;
    CUDA_CHECK(cudaStreamDestroy(compute));
    CUDA_CHECK(cudaStreamDestroy(copy));
    CUDA_CHECK(cudaEventDestroy(squared));
    CUDA_CHECK(cudaFreeHost(first));
    CUDA_CHECK(cudaFreeHost(second));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish("copy_overlap", wrong);
}
