// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// A histogram per block in shared memory, counted with ++: a load and a store, between which other threads count too.
#include "example.h"

#define BINS 16

__global__ void histogram(const unsigned char *data, int n, unsigned *total)
{
    __shared__ unsigned bins[BINS];
    if (threadIdx.x < BINS)
        bins[threadIdx.x] = 0; // NEVER
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        bins[data[i]]++; // RACE: clobbered read, lost update, intra-warp same-value write; RACE-MAYBE: intra-warp lost update
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&total[threadIdx.x], bins[threadIdx.x]); // NEVER
}

int main()
{
    const int n = 8192;
    static unsigned char data[n];
    unsigned expected[BINS] = {0}, got[BINS];
    for (int i = 0; i < n; i++) {
        data[i] = (unsigned char)(scramble(i) % BINS);
        expected[data[i]]++;
    }
    unsigned char *d_data;
    unsigned *d_total;
    CUDA_CHECK(cudaMalloc(&d_data, n));
    CUDA_CHECK(cudaMalloc(&d_total, sizeof got));
    CUDA_CHECK(cudaMemcpy(d_data, data, n, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_total, 0, sizeof got));
    histogram<<<8, 256>>>(d_data, n, d_total);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_total, sizeof got, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int b = 0; b < BINS; b++)
        wrong += got[b] != expected[b];
    printf("bin 0 holds %u, expected %u\n", got[0], expected[0]);
    CUDA_CHECK(cudaFree(d_data));
    CUDA_CHECK(cudaFree(d_total));
    return finish_undefined("histogram", wrong);
}
