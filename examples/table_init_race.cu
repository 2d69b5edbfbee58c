// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// The second warp fills a table in shared memory and all warps use it, with no barrier between.
#include "example.h"

__global__ void lookup(const int *values, const unsigned char *in, int *out)
{
    __shared__ int table[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t >= 32 && t < 64)
        table[t - 32] = values[t - 32]; // OTHER
    out[i] = table[in[i] % 32]; // RACE: clobbered read
}

int main()
{
    const int blocks = 16, threads = 128, n = blocks * threads;
    static unsigned char in[n];
    static int out[n];
    int values[32];
    for (int k = 0; k < 32; k++)
        values[k] = 1 + (int)(scramble(k) % 10000);
    for (int i = 0; i < n; i++)
        in[i] = (unsigned char)scramble(i);
    unsigned char *d_in;
    int *d_values, *d_out, wrong = 0;
    CUDA_CHECK(cudaMalloc(&d_values, sizeof values));
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof out));
    CUDA_CHECK(cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    lookup<<<blocks, threads>>>(d_values, d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += out[i] != values[in[i] % 32];
    CUDA_CHECK(cudaFree(d_values));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish_undefined("table_init", wrong);
}
