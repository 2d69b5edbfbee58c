// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// Three-point stencil from one array into another.
#include "example.h"

__global__ void smooth(const int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1)
        return;
    int left = a[i - 1];
    int here = a[i]; // NEVER
    int right = a[i + 1];
    b[i] = left + 2 * here + right; // NEVER
}

int main()
{
    const int n = 4096;
    static int a[n], got[n];
    for (int i = 0; i < n; i++)
        a[i] = 1 + (int)(scramble(i) % 1000);
    int *d_a;
    CUDA_CHECK(cudaMalloc(&d_a, sizeof a));
    CUDA_CHECK(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice));
    int *d_b;
    CUDA_CHECK(cudaMalloc(&d_b, sizeof a));
    smooth<<<n / 128, 128>>>(d_a, d_b, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_b, sizeof got, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 1; i < n - 1; i++)
        wrong += got[i] != a[i - 1] + 2 * a[i] + a[i + 1];
    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_b));
    return finish("stencil", wrong);
}
