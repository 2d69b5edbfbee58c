// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Each warp sums 32 values through shared memory and trusts that its lanes move in lockstep: __syncwarp() is missing, and
// since Volta the lanes of a warp are threads of their own.
#include "example.h"

#define WARPS 4

__global__ void warp_sum(const int *in, int *out)
{
    __shared__ int data[WARPS][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int sum = in[blockIdx.x * blockDim.x + threadIdx.x];
    data[warp][lane] = sum; // OTHER
    for (int d = 16; d > 0; d /= 2) {
        int other = data[warp][(lane + d) % 32]; // RACE: clobbered read
        sum += other;
        data[warp][lane] = sum; // OTHER
    }
    if (lane == 0)
        out[blockIdx.x * WARPS + warp] = sum;
}

int main()
{
    const int blocks = 16, n = blocks * WARPS * 32;
    static int in[n];
    int sums[n / 32], expected[n / 32] = {0}, wrong = 0;
    for (int i = 0; i < n; i++) {
        in[i] = (int)(scramble(i) % 1000);
        expected[i / 32] += in[i];
    }
    int *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof sums));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    warp_sum<<<blocks, WARPS * 32>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(sums, d_out, sizeof sums, cudaMemcpyDeviceToHost));
    for (int w = 0; w < n / 32; w++)
        wrong += sums[w] != expected[w];
    printf("sum of warp 0: %d, expected %d\n", sums[0], expected[0]);
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish_undefined("warp_reduce", wrong);
}
