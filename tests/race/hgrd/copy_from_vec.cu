// SPDX-License-Identifier: Apache-2.0
// copyFromVec (HGRD, table 3; Kaldi): a vector is copied into every row of a matrix by a loop over all of its elements,
// a grid at a time; a row's length is a parameter, and the memory's size a product with it.
// CLEAN -- cols > 0, for the allocation has rows * cols elements, so that i / cols and i % cols name element i only
#include "../corpus.h"

__global__ void copy_rows_from_vec(const float *vec, float *a, int rows, int cols, int stride) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += step) {
        int row = i / cols, col = i % cols;
        a[row * stride + col] = vec[col]; // NEVER
    }
}

static int test(bool) {
    const int rows = 11, cols = 13;
    std::vector<float> in(cols);
    for (int i = 0; i < cols; i++) {
        in[i] = 0.5f * (float)i;
    }
    float *a;
    std::vector<float> out(rows * cols);
    Buffer<float> vec(in);
    CUDA_CHECK(cudaMalloc(&a, sizeof(float) * rows * cols));
    copy_rows_from_vec<<<3, 32>>>(vec, a, rows, cols, cols);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), a, sizeof(float) * rows * cols, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(a));
    return count_wrong(out, [&](int i) { return in[i % cols]; });
}

CORPUS_MAIN(test)
