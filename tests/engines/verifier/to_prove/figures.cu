// SPDX-License-Identifier: Apache-2.0
// Figures 1 to 5 of the HGRD paper, each with its host code: a fact of each class keeps a kernel free of races. With -DNO_FACTS each host function
// has lost its fact, and each kernel races.
#include <cassert>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int SIDE = 8;

// Figure 1, an assert: the lower half of a matrix is copied from its upper half, which is right for square matrices.
__global__ void copy_upper(float *a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < j && j < rows) {
        a[j * cols + i] = a[i * cols + j];
    }
}

static void figure_1(int rows, int cols) {
#ifndef NO_FACTS
    assert(rows == cols); // square matrices only
#endif
    float *a;
    cudaMalloc(&a, rows * cols * sizeof(float));
    dim3 block(SIDE, SIDE), grid((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE);
    copy_upper<<<grid, block>>>(a, rows, cols);
}

// Figure 2, the grid: one thread of a block writes the result, so there must be one block.
__global__ void reduce_final(const int *part, int *result, int parts) {
    __shared__ int sum;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < parts; i += blockDim.x) {
        atomicAdd(&sum, part[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        result[0] = sum;
    }
}

static void figure_2(int parts) {
    int *part, *result;
    cudaMalloc(&part, parts * sizeof(int));
    cudaMalloc(&result, sizeof(int));
#ifndef NO_FACTS
    reduce_final<<<1, 64>>>(part, result, parts);
#else
    reduce_final<<<parts, 64>>>(part, result, parts);
#endif
}

// Figure 3, parameters of one variable: the kernel writes all that its grid covers, so a row must be as long as the grid is wide.
__global__ void tone_mapping(float *output, int width, int channels) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    output[width * channels * y + x * channels] = 1;
}

static void figure_3(int wide, int high, int other) {
    float *output;
    cudaMalloc(&output, wide * high * 4 * sizeof(float));
    dim3 block(16, 16), grid(wide / 16, high / 16);
#ifndef NO_FACTS
    other = wide;
#endif
    tone_mapping<<<grid, block>>>(output, other, 4);
}

// Figure 4, a loop's bounds: the offset is never negative.
__global__ void lud_internal(float *m, int dim, int offset) {
    int row = offset + (blockIdx.y + 1) * SIDE + threadIdx.y;
    int col = offset + (blockIdx.x + 1) * SIDE + threadIdx.x;
    m[row * dim + col] = 1;
}

static void figure_4(int dim, int first) {
    float *m;
    cudaMalloc(&m, dim * dim * sizeof(float));
    dim3 block(SIDE, SIDE);
#ifndef NO_FACTS
    for (int offset = 0; offset < dim; offset += SIDE) {
#else
    for (int offset = first; offset != dim; offset += SIDE) {
#endif
        dim3 grid((dim - offset) / SIDE - 1, (dim - offset) / SIDE - 1);
        lud_internal<<<grid, block>>>(m, dim, offset);
    }
}

// Figure 5, an allocation's size: cudaMallocPitch chooses how far rows are apart, which is not less than a row.
__global__ void shift(float *matrix, int row_size) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    matrix[y * (row_size / 4) + x] = 1;
}

static void figure_5(int width, int rows, int guess) {
    float *matrix;
    size_t row_size;
    cudaMallocPitch(&matrix, &row_size, width * sizeof(float), rows);
#ifdef NO_FACTS
    row_size = guess;
#endif
    shift<<<dim3(width / 16, rows / 4), dim3(16, 4)>>>(matrix, row_size);
}

int main(int argc, char **argv) {
    if (argc < 12) {
        return 1;
    }
    figure_1(atoi(argv[1]), atoi(argv[2]));
    figure_2(atoi(argv[3]));
    figure_3(atoi(argv[4]), atoi(argv[5]), atoi(argv[6]));
    figure_4(atoi(argv[7]), atoi(argv[8]));
    figure_5(atoi(argv[9]), atoi(argv[10]), atoi(argv[11]));
    return cudaDeviceSynchronize() != cudaSuccess;
}
