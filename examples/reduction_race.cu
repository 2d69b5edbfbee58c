// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Tree reduction of a block in shared memory, without the barrier that ends each step: a warp adds elements that another
// warp has not finished adding to.
#include "example.h"

#define BLOCK 256

__global__ void block_sum(const int *in, int *out)
{
    __shared__ int data[BLOCK];
    int t = threadIdx.x;
    data[t] = in[blockIdx.x * BLOCK + t];
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (t < s)
            data[t] += data[t + s]; // RACE: clobbered read
    }
    if (t == 0)
        out[blockIdx.x] = data[0]; // NEVER
}

int main()
{
    const int blocks = 16, n = blocks * BLOCK;
    static int in[n];
    int sums[blocks], expected[blocks] = {0}, wrong = 0;
    for (int i = 0; i < n; i++) {
        in[i] = (int)(scramble(i) % 1000);
        expected[i / BLOCK] += in[i];
    }
    int *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof sums));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    block_sum<<<blocks, BLOCK>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(sums, d_out, sizeof sums, cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++)
        wrong += sums[b] != expected[b];
    printf("sum of block 0: %d, expected %d\n", sums[0], expected[0]);
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish_undefined("reduction", wrong);
}
