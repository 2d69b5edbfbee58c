// SPDX-License-Identifier: Apache-2.0
// late BLOCK REGION: of 64 blocks, two warps of one race in shared memory, in one of its three regions. Blocks take turns at private copies.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void write(int *out, int block, int region) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    for (int k = 0; k < 3; k++) {
        if ((int)blockIdx.x == block && k == region && t % 32 == 0)
            s[5] = 100 + t; // the race
        if (blockIdx.x % 2 && k == 1)
            break; // other blocks have other numbers of regions
        __syncthreads();
        s[t] += s[t];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = s[t];
}

int main(int, char **words) {
    int *out;
    cudaMalloc(&out, 64 * 64 * sizeof *out);
    write<<<64, 64>>>(out, atoi(words[1]), atoi(words[2]));
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
