// SPDX-License-Identifier: Apache-2.0
// copyUppToLow (HGRD, table 3 and figure 1; Kaldi): the upper half of a square matrix is copied to the lower one, in
// place. Only the host asserts that the matrix is square, which keeps the two halves apart.
// CLEAN -- with rows == cols the elements written (below the diagonal) and read (above it) are different ones
#include "../corpus.h"
#include "../input.h"
#include <cassert>

__global__ void upper_to_lower(float *a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < j && j < rows) {
        a[j * cols + i] = a[i * cols + j]; // NEVER
    }
}

static void copy_upper_to_lower(float *a, int rows, int cols) {
    assert(rows == cols); // square matrices only
    dim3 block(8, 8), grid((cols + 7) / 8, (rows + 7) / 8);
    upper_to_lower<<<grid, block>>>(a, rows, cols);
    CHECK(cudaGetLastError());
}

static int test(bool) {
    int rows = input("ROWS", "13"), cols = input("COLS", "13");
    std::vector<float> in(rows * cols);
    for (int i = 0; i < rows * cols; i++) {
        in[i] = (float)i;
    }
    Buffer<float> a(in);
    copy_upper_to_lower(a, rows, cols);
    return count_wrong(a.host(), [&](int at) {
        int row = at / cols, col = at % cols;
        return col < row ? in[col * cols + row] : in[at];
    });
}

CORPUS_MAIN(test)
