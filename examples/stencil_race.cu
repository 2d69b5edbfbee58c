// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Three-point stencil in place: a thread reads elements that its neighbours overwrite.
#include "example.h"

__global__ void smooth(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1)
        return;
    int left = a[i - 1]; // RACE: clobbered read
    int here = a[i]; // NEVER
    int right = a[i + 1]; // RACE: clobbered read
    a[i] = left + 2 * here + right; // OTHER
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
    smooth<<<n / 128, 128>>>(d_a, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_a, sizeof got, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 1; i < n - 1; i++)
        wrong += got[i] != a[i - 1] + 2 * a[i] + a[i + 1];
    CUDA_CHECK(cudaFree(d_a));
    return finish_undefined("stencil", wrong);
}
