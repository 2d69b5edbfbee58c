// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Two phases of a cooperative kernel: every block writes its part, then reads the other end of the array. The grid-wide
// barrier between the phases is missing.
#include "example.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void phases(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = 3 * i + 1; // OTHER
    b[i] = a[n - 1 - i]; // RACE: clobbered read
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
    return finish_undefined("grid_phase", wrong);
}
