// SPDX-License-Identifier: Apache-2.0
// pair A B: of 960 blocks of one thread, A and B write to one place. Table I of the LDetector paper has 960 units.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void write(int *p, unsigned a, unsigned b) {
    p[1 + blockIdx.x] = blockIdx.x;
    if (blockIdx.x == a || blockIdx.x == b)
        p[0] = 1 + blockIdx.x; // the race
}

int main(int, char **words) {
    int *p;
    cudaMalloc(&p, 961 * sizeof *p);
    write<<<960, 1>>>(p, atoi(words[1]), atoi(words[2]));
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
