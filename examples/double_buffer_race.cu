// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Heat conduction in a rod, steps in two shared buffers. Two buffers do not replace the barrier: a warp that is a step
// ahead writes into the buffer that its neighbour still reads.
#include "example.h"

#define BLOCK 128
#define STEPS 16

__global__ void conduct(const int *in, int *out)
{
    __shared__ int heat[2][BLOCK];
    int t = threadIdx.x, cur = 0;
    int west = t > 0 ? t - 1 : t, east = t + 1 < BLOCK ? t + 1 : t;
    heat[0][t] = in[blockIdx.x * BLOCK + t];
    __syncthreads();
    for (int step = 0; step < STEPS; step++) {
        int w = heat[cur][west]; // RACE: clobbered read
        int e = heat[cur][east]; // RACE: clobbered read
        heat[cur ^ 1][t] = (w + e) / 2 + step; // OTHER
        cur ^= 1;
    }
    out[blockIdx.x * BLOCK + t] = heat[cur][t]; // NEVER
}

int main()
{
    const int blocks = 8, n = blocks * BLOCK;
    static int in[n], out[n], ref[2][n];
    for (int i = 0; i < n; i++)
        ref[0][i] = in[i] = (int)(scramble(i) % 10000);
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < n; i++) {
            int t = i % BLOCK, *from = ref[step % 2];
            ref[(step + 1) % 2][i] = (from[t > 0 ? i - 1 : i] + from[t + 1 < BLOCK ? i + 1 : i]) / 2 + step;
        }
    int *d_in, *d_out, wrong = 0;
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof out));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    conduct<<<blocks, BLOCK>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += out[i] != ref[STEPS % 2][i];
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish_undefined("double_buffer", wrong);
}
