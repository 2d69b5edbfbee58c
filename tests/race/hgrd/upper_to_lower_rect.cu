// SPDX-License-Identifier: Apache-2.0
// Arguments not asserted (HGRD, figure 1, broken): the upper half of a matrix goes to the lower one in place, but the
// matrix has more rows than columns, so that what is one half by row and column is not by address.
// RACE 1: read-write race, global, can-overlap -- an element of the upper half is read, which is one of the lower, too
// RACE 2: write-write race|same-value write, global, can-overlap -- two of the lower half are one
// FIXED: the matrix is square, as the original's host asserts
#include "../corpus.h"

constexpr int ROWS = 13;

__global__ void upper_to_lower(int *a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < j && j < rows) {
        int value = a[i * cols + j]; // SIDE 1
        a[j * cols + i] = value;     // SIDE 1 2
    }
}

static int test(bool fixed) {
    std::vector<int> in(ROWS * ROWS);
    for (int i = 0; i < ROWS * ROWS; i++) {
        in[i] = 100 + i;
    }
    int cols = 9;
    if (fixed) cols = ROWS; // FIX
    Buffer<int> a(in);
    upper_to_lower<<<dim3((ROWS + 7) / 8, (ROWS + 7) / 8), dim3(8, 8)>>>(a, ROWS, cols);
    CHECK(cudaGetLastError());
    return count_wrong(a.host(), [&](int at) {
        int row = at / ROWS, col = at % ROWS;
        return col < row ? in[col * ROWS + row] : in[at];
    });
}

CORPUS_MAIN(test)
