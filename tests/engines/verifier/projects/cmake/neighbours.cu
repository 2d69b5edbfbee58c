// SPDX-License-Identifier: Apache-2.0
#include "neighbours.h"

__global__ void add_next(int *p) {
    __shared__ int all[64];
    all[threadIdx.x] = p[threadIdx.x]; // write
#ifdef REPAIRED
    __syncthreads();
#endif
    p[threadIdx.x] = all[(threadIdx.x + 1) % 64]; // read
}

void neighbours(int n) {
    int *p;
    cudaMalloc(&p, n * sizeof *p);
    add_next<<<1, 64>>>(p);
    cudaFree(p);
}
