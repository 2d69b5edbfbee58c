// SPDX-License-Identifier: Apache-2.0
// Arguments from a loop of the host (HGRD, figure 4, broken): a launch for each pivot takes its multiple from the rows
// below. The columns begin at the pivot's own, whose elements are the factors that the other threads read.
// RACE 1: read-write race, global, can-overlap -- the factor of a row is replaced while the row's other threads read it
// FIXED: the columns begin behind the pivot's
#include "../corpus.h"

constexpr int N = 12;

__global__ void eliminate(unsigned *m, int dim, int pivot, int first) {
    int row = pivot + 1 + blockIdx.x * blockDim.y + threadIdx.y, col = first + threadIdx.x;
    if (row < dim && col < dim) {
        unsigned factor = m[row * dim + pivot];              // SIDE 1
        m[row * dim + col] -= factor * m[pivot * dim + col]; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<unsigned> matrix(N * N);
    for (int i = 0; i < N * N; i++) {
        matrix[i] = i / N == i % N ? 1 : i * 7 % 3;
    }
    Buffer<unsigned> m(matrix);
    for (int pivot = 0; pivot < N - 1; pivot++) {
        int first = pivot;
        if (fixed) first = pivot + 1; // FIX
        eliminate<<<(N - 2 - pivot) / 4 + 1, dim3(16, 4)>>>(m, N, pivot, first);
        for (int i = (pivot + 1) * N; i < N * N; i++) {
            if (i % N > pivot) {
                matrix[i] -= matrix[i / N * N + pivot] * matrix[pivot * N + i % N];
            }
        }
    }
    CHECK(cudaGetLastError());
    return count_wrong(m.host(), [&](int i) { return matrix[i]; });
}

CORPUS_MAIN(test)
