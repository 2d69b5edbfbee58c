// SPDX-License-Identifier: Apache-2.0
// Races in memory that comes and goes: the second allocation may begin where the first one did.
#include <cuda_runtime.h>

__device__ int total;

__global__ void first(int *p) { p[5] = threadIdx.x; }
__global__ void second(int *p, int *q) { (threadIdx.x < 2 ? p : q)[7] = threadIdx.x; }
__global__ void third() { total = threadIdx.x; }

int main() {
    int *a, *b, *c;
    cudaMalloc(&a, 64 * sizeof *a); // first
    first<<<1, 64>>>(a);
    cudaFree(a);
    cudaMalloc(&b, 100 * sizeof *b); // second
    cudaMallocManaged(&c, 32 * sizeof *c);
    second<<<1, 4>>>(b, b + 1);
    third<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
