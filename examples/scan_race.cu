// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Hillis-Steele inclusive scan in a single shared buffer, without the barrier between reading the left neighbour and
// writing one's own element.
#include "example.h"

#define BLOCK 256

__global__ void scan(const int *in, int *out)
{
    __shared__ int s[BLOCK];
    int t = threadIdx.x;
    int sum = in[blockIdx.x * BLOCK + t];
    s[t] = sum;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        int left = 0;
        if (t >= d)
            left = s[t - d]; // RACE: clobbered read
        sum += left;
        s[t] = sum; // OTHER
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + t] = sum; // NEVER
}

int main()
{
    const int blocks = 8, n = blocks * BLOCK;
    static int in[n], got[n];
    for (int i = 0; i < n; i++)
        in[i] = 1 + (int)(scramble(i) % 100);
    int *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof got));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    scan<<<blocks, BLOCK>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    int wrong = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        sum = i % BLOCK == 0 ? in[i] : sum + in[i];
        wrong += got[i] != sum;
    }
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish_undefined("scan", wrong);
}
