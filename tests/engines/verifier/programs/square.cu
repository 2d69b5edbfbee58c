// SPDX-License-Identifier: Apache-2.0
// The HGRD paper's figure 1: the lower half of a matrix is copied from its upper half. That is right for square matrices, which only the host says.
#include <cassert>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void copy_upper(float *a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < j && j < rows) {
        a[j * cols + i] = a[i * cols + j];
    }
}

int main(int argc, char **argv) {
    if (argc < 3) return 1;
    int rows = atoi(argv[1]), cols = atoi(argv[2]);
    assert(rows > 0 && cols > 0 && rows < 1024 && cols < 1024);
#ifndef ANY_SHAPE
    assert(rows == cols);
#endif
    float *a;
    cudaMalloc(&a, rows * cols * sizeof(float));
    dim3 block(8, 8), grid((cols + 7) / 8, (rows + 7) / 8);
    copy_upper<<<grid, block>>>(a, rows, cols);
    return cudaDeviceSynchronize() != cudaSuccess;
}
