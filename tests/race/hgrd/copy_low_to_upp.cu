// SPDX-License-Identifier: Apache-2.0
// copyLowToUpp (HGRD, table 3; Kaldi): the lower half of a square matrix is copied to the upper one, in place. The host
// returns early for matrices that are not square: not an assertion, but as good as one.
// CLEAN -- with rows == cols the elements written (above the diagonal) and read (below it) are different ones
#include "../corpus.h"
#include "../input.h"

__global__ void lower_to_upper(int *a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j < i && i < rows) {
        a[j * cols + i] = a[i * cols + j]; // NEVER
    }
}

static bool copy_lower_to_upper(int *a, int rows, int cols) {
    if (rows != cols) {
        return false; // square matrices only
    }
    dim3 block(16, 4), grid((cols + 15) / 16, (rows + 3) / 4);
    lower_to_upper<<<grid, block>>>(a, rows, cols);
    CHECK(cudaGetLastError());
    return true;
}

static int test(bool) {
    int rows = input("ROWS", "19"), cols = input("COLS", "19");
    std::vector<int> in(rows * cols);
    for (int i = 0; i < rows * cols; i++) {
        in[i] = 3 * i + 1;
    }
    Buffer<int> a(in);
    bool done = copy_lower_to_upper(a, rows, cols), refused = !copy_lower_to_upper(a, rows, cols - 1);
    return !done + !refused + count_wrong(a.host(), [&](int at) {
        int row = at / cols, col = at % cols;
        return col > row ? in[col * cols + row] : in[at];
    });
}

CORPUS_MAIN(test)
