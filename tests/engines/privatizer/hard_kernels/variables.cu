// SPDX-License-Identifier: Apache-2.0
// A race in each of four places: two variables of shared memory, one of the module, and memory that was allocated; and one in a kernel of its own.
#include <cstdio>

__device__ int total;

__global__ void four(int *allocated) {
    __shared__ int first, second;
    first = threadIdx.x;  // RACE first
    second = threadIdx.x; // RACE second
    __syncthreads();
    total = threadIdx.x + first;       // RACE total
    *allocated = threadIdx.x + second; // RACE
}

__global__ void another(int *allocated) {
    allocated[1] = threadIdx.x; // RACE
}

int main() {
    int *allocated;
    cudaMalloc(&allocated, 2 * sizeof *allocated);
    four<<<1, 64>>>(allocated);
    another<<<1, 64>>>(allocated);
    printf(cudaDeviceSynchronize() == cudaSuccess ? "PASS\n" : "FAIL\n");
}
