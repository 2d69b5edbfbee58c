// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// Dot product. Blocks sum their part and add it to the result with atomicAdd.
#include "example.h"

#define BLOCK 64

__global__ void dot(const float *a, const float *b, int n, float *result)
{
    __shared__ float part[BLOCK];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        sum += a[i] * b[i];
    part[t] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s]; // NEVER
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(result, part[0]); // NEVER
}

int main()
{
    const int n = 8192, blocks = 64;
    static float a[n], b[n];
    float expected = 0, got; // small integers: exact in any order
    for (int i = 0; i < n; i++) {
        a[i] = (float)(scramble(i) % 16);
        b[i] = (float)(scramble(i + n) % 16);
        expected += a[i] * b[i];
    }
    float *d_a, *d_b, *d_result;
    CUDA_CHECK(cudaMalloc(&d_a, sizeof a));
    CUDA_CHECK(cudaMalloc(&d_b, sizeof b));
    CUDA_CHECK(cudaMalloc(&d_result, sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_result, 0, sizeof(float)));
    dot<<<blocks, BLOCK>>>(d_a, d_b, n, d_result);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&got, d_result, sizeof got, cudaMemcpyDeviceToHost));
    printf("a.b = %g, expected %g\n", got, expected);
    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_b));
    CUDA_CHECK(cudaFree(d_result));
    return finish("dot", got != expected);
}
