// SPDX-License-Identifier: Apache-2.0
// A stride that is no allocation's (HGRD, table 3, copyFromVec, broken): the row stride of a view that repeats one row
// is 0, as in libraries of arrays that broadcast. All rows of threads write that row, the same values.
// RACE 1: same-value write, global, can-overlap -- the threads of all rows write the one there is
// FIXED: the view has rows of its own
#include "../corpus.h"

constexpr int ROWS = 6, COLS = 21;

__global__ void copy_rows_from_vec(const int *vec, int *a, int rows, int cols, int stride) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += gridDim.x * blockDim.x) {
        int row = i / cols, col = i % cols;
        a[row * stride + col] = vec[col]; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> in(COLS);
    for (int i = 0; i < COLS; i++) {
        in[i] = 9 * i + 4;
    }
    Buffer<int> vec(in), a(ROWS * COLS);
    int stride = 0, rows = 1;
    if (fixed) stride = COLS, rows = ROWS; // FIX
    copy_rows_from_vec<<<2, 32>>>(vec, a, ROWS, COLS, stride);
    CHECK(cudaGetLastError());
    std::vector<int> out = a.host();
    out.resize(rows * COLS);
    return count_wrong(out, [](int i) { return 9 * (i % COLS) + 4; });
}

CORPUS_MAIN(test)
