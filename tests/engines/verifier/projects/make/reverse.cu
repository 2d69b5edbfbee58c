// SPDX-License-Identifier: Apache-2.0
#include "steps.cuh"
#include "steps.h"

__global__ void reverse_kernel(int *p, int n) {
    int i = threadIdx.x;
    int v = mirrored(p, n, i);
    settle();
    p[i] = v; // write
}

void reverse(int n) {
    int *p;
    cudaMalloc(&p, n * sizeof *p);
    reverse_kernel<<<1, n>>>(p, n);
    cudaFree(p);
}
