// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Figure 2 of the SuperCollider paper: every thread of the block sets the shared sum to 0. All write the same value, which
// looks harmless; it is a race all the same, and a compiler may use that no two threads write there.
#include "example.h"

__global__ void count_adds(int *ret)
{
    __shared__ int sum;
    sum = 0; // RACE: intra-warp same-value write
    __syncthreads();
    for (int i = 0; i < 4; i++)
        atomicAdd(&sum, 1); // NEVER
    __syncthreads();
    if (threadIdx.x == 0)
        ret[blockIdx.x] = sum; // NEVER
}

int main()
{
    const int blocks = 16, threads = 128;
    int *ret, got[blocks], wrong = 0;
    CUDA_CHECK(cudaMalloc(&ret, sizeof got));
    count_adds<<<blocks, threads>>>(ret);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, ret, sizeof got, cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++)
        wrong += got[b] != 4 * threads;
    printf("first block counted %d\n", got[0]);
    CUDA_CHECK(cudaFree(ret));
    return finish_undefined("shared_init", wrong);
}
