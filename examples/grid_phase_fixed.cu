// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// Two phases of a cooperative kernel: every block writes its part, then, after a grid-wide barrier, reads the other end
// of the array.
#include "example.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void phases(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = 3 * i + 1;
    cg::this_grid().sync();
    b[i] = a[n - 1 - i];
}

int main()
{
    const int blocks = 8, threads = 128;
    int n = blocks * threads, wrong = 0;
    static int got[blocks * threads];
    int *a, *b;
    CUDA_CHECK(cudaMalloc(&a, sizeof got));
    CUDA_CHECK(cudaMalloc(&b, sizeof got));
    CUDA_CHECK(cudaMemset(a, 0, sizeof got));
    void *args[] = {&a, &b, &n};
    CUDA_CHECK(cudaLaunchCooperativeKernel((void *)phases, dim3(blocks), dim3(threads), args, 0, nullptr));
    CUDA_CHECK(cudaMemcpy(got, b, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += got[i] != 3 * (n - 1 - i) + 1;
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    return finish("grid_phase", wrong);
}
