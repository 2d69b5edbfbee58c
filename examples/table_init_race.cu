// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// The second warp fills a table in shared memory and all warps use it, with no barrier between.
#include "example.h"

__global__ void lookup(const unsigned char *in, int *out)
{
    __shared__ int square[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t >= 32 && t < 64)
        square[t - 32] = 1000 + (t - 32) * (t - 32); // OTHER
    out[i] = square[in[i] % 32]; // RACE: clobbered read
}

int main()
{
    const int blocks = 16, threads = 128, n = blocks * threads;
    static unsigned char in[n];
    static int out[n];
    for (int i = 0; i < n; i++)
        in[i] = (unsigned char)scramble(i);
    unsigned char *d_in;
    int *d_out, wrong = 0;
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof out));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    lookup<<<blocks, threads>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += out[i] != 1000 + (in[i] % 32) * (in[i] % 32);
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish_undefined("table_init", wrong);
}
