// SPDX-License-Identifier: Apache-2.0
// copyFromTp (HGRD, table 3; Kaldi): a packed triangular matrix is unpacked into a square one with a row stride. That
// stride >= cols, which keeps the rows apart, and that both matrices are of one size is asserted by the host alone.
// CLEAN -- with col < cols <= stride every thread writes an element of its own (FaialAA, GPUVerify and GKLEE report it)
#include "../corpus.h"
#include "../input.h"
#include <cassert>

struct Dim {
    int rows, cols, stride;
};

__global__ void unpack(const float *packed, float *a, Dim dim) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < dim.cols && row < dim.rows) {
        float value = 0;
        if (col <= row) {
            value = packed[row * (row + 1) / 2 + col]; // NEVER
        }
        a[row * dim.stride + col] = value; // NEVER
    }
}

static void copy_from_tp(const float *packed, int packed_rows, float *a, Dim dim) {
    assert(dim.rows == packed_rows && dim.cols == packed_rows);
    assert(dim.stride >= dim.cols);
    dim3 block(8, 8), grid((dim.cols + 7) / 8, (dim.rows + 7) / 8);
    unpack<<<grid, block>>>(packed, a, dim);
    CHECK(cudaGetLastError());
}

static int test(bool) {
    int n = input("SIZE", "17"), rows = input("ROWS", "17"), cols = input("COLS", "17"), stride = input("STRIDE", "20");
    std::vector<float> in(n * (n + 1) / 2);
    for (size_t i = 0; i < in.size(); i++) {
        in[i] = (float)(i + 1);
    }
    Buffer<float> packed(in), a(rows * stride);
    copy_from_tp(packed, n, a, Dim{rows, cols, stride});
    return count_wrong(a.host(), [&](int at) {
        int row = at / stride, col = at % stride;
        return col <= row ? in[row * (row + 1) / 2 + col] : 0;
    });
}

CORPUS_MAIN(test)
