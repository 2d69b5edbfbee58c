// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Smooths a signal in shared memory in place. The barrier after each pass does not keep a pass's reads from its writes.
#include "example.h"

#define BLOCK 192
#define PASSES 4

__global__ void smooth(short *signal)
{
    __shared__ short s[BLOCK];
    int t = threadIdx.x;
    s[t] = signal[blockIdx.x * BLOCK + t]; // NEVER
    __syncthreads();
    for (int pass = 0; pass < PASSES; pass++) {
        int sum = 0;
        for (int k = -2; k <= 2; k++)
            sum += s[(t + k + BLOCK) % BLOCK]; // RACE: clobbered read
        s[t] = (short)(sum / 5); // OTHER
        __syncthreads();
    }
    signal[blockIdx.x * BLOCK + t] = s[t]; // NEVER
}

int main()
{
    const int blocks = 8, n = blocks * BLOCK;
    static short signal[n], ref[2][n];
    for (int i = 0; i < n; i++)
        ref[0][i] = signal[i] = (short)(scramble(i) % 20000);
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < n; i++) {
            int base = i / BLOCK * BLOCK, sum = 0;
            for (int k = -2; k <= 2; k++)
                sum += ref[pass % 2][base + (i - base + k + BLOCK) % BLOCK];
            ref[(pass + 1) % 2][i] = (short)(sum / 5);
        }
    short *d;
    CUDA_CHECK(cudaMalloc(&d, sizeof signal));
    CUDA_CHECK(cudaMemcpy(d, signal, sizeof signal, cudaMemcpyHostToDevice));
    smooth<<<blocks, BLOCK>>>(d);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(signal, d, sizeof signal, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += signal[i] != ref[PASSES % 2][i];
    CUDA_CHECK(cudaFree(d));
    return finish_undefined("moving_average", wrong);
}
