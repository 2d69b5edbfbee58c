// SPDX-License-Identifier: Apache-2.0
// The thread that comes last decides how much is written; so one run may need more room for private copies than the one before, as may the run that looks for the
// accesses of a race.
#include <cstdio>

enum { LINES = 600 };

__global__ void last_decides(unsigned *n, int *lines, int *racy) {
    if (atomicAdd(n, 1) == blockDim.x - 1 && threadIdx.x % 2)
        for (int k = 0; k < LINES; k++)
            lines[k * 32] = 1;
    __syncthreads();
    *racy = threadIdx.x + 1; // RACE
}

int main() {
    unsigned *n;
    int *lines, *racy;
    cudaMalloc(&n, sizeof *n);
    cudaMalloc(&lines, LINES * 128);
    cudaMalloc(&racy, sizeof *racy);
    cudaMemset(n, 0, sizeof *n);
    last_decides<<<1, 64>>>(n, lines, racy);
    printf(cudaDeviceSynchronize() == cudaSuccess ? "PASS\n" : "FAIL\n");
}
