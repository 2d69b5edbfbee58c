// SPDX-License-Identifier: Apache-2.0
// copyFromVec (HGRD, table 3; Kaldi's CopyRowsFromVec): a vector is copied into every row of a matrix. As in Kaldi, a
// row's stride is the pitch that cudaMallocPitch chose, divided by the size of an element.
// CLEAN -- the allocation's pitch is never less than a row, so that rows do not overlap; the kernel does not know
#include "../corpus.h"
#include "../input.h"

struct Dim {
    int rows, cols, stride;
};

__global__ void copy_rows_from_vec(float *a, Dim dim, const float *vec) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < dim.rows && col < dim.cols) {
        a[row * dim.stride + col] = vec[col]; // NEVER
    }
}

static int test(bool) {
    int rows = input("ROWS", "11"), cols = input("COLS", "13");
    std::vector<float> in(cols), out(rows * cols);
    for (int i = 0; i < cols; i++) {
        in[i] = 0.5f * (float)i;
    }
    Buffer<float> vec(in);
    float *a;
    size_t pitch, row = cols * sizeof(float);
    CHECK(cudaMallocPitch(&a, &pitch, row, rows));
    dim3 block(16, 4), grid((cols + 15) / 16, (rows + 3) / 4);
    copy_rows_from_vec<<<grid, block>>>(a, Dim{rows, cols, (int)(pitch / sizeof(float))}, vec);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(out.data(), row, a, pitch, row, rows, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(a));
    return count_wrong(out, [&](int i) { return in[i % cols]; });
}

CORPUS_MAIN(test)
