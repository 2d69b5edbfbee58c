// SPDX-License-Identifier: Apache-2.0
// Sparse matrix times vector in three formats: CSR with a thread per row, CSR with a warp per row, ELL (column-major,
// padded), and COO with atomics into the result. Some rows are empty, one is long.
#include "complete.h"

struct Csr {
    std::vector<int> start, column;
    std::vector<double> value;
};

__global__ void csr_scalar(const int *start, const int *column, const double *value, const double *x, double *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0;
    for (int i = start[row]; i < start[row + 1]; i++)
        sum += value[i] * x[column[i]];
    y[row] = sum;
}

__global__ void csr_vector(const int *start, const int *column, const double *value, const double *x, double *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    double sum = 0;
    for (int i = start[row] + lane; i < start[row + 1]; i += 32)
        sum += value[i] * x[column[i]];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        y[row] = sum;
}

__global__ void ell(const int *column, const double *value, int width, const double *x, double *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0;
    for (int k = 0; k < width; k++) {
        int c = column[k * rows + row];
        if (c >= 0)
            sum += value[k * rows + row] * x[c];
    }
    y[row] = sum;
}

__global__ void coo(const int *row, const int *column, const double *value, int count, const double *x, double *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&y[row[i]], value[i] * x[column[i]]);
}

int main()
{
    const int rows = 1511, columns = 1299;
    Random random(5);
    Csr m;
    std::vector<int> row_of;
    int width = 0;
    for (int r = 0; r < rows; r++) {
        m.start.push_back((int)m.column.size());
        int count = r % 17 == 3 ? 0 : r == 700 ? 211 : (int)random.below(12);
        width = std::max(width, count);
        for (int k = 0; k < count; k++) {
            m.column.push_back((int)random.below(columns));
            m.value.push_back(random.uniform() - 0.5);
            row_of.push_back(r);
        }
    }
    m.start.push_back((int)m.column.size());
    std::vector<double> x(columns), want(rows, 0.0);
    for (auto &e : x)
        e = random.uniform();
    std::vector<int> ell_column((size_t)width * rows, -1);
    std::vector<double> ell_value((size_t)width * rows, 0.0);
    for (int r = 0; r < rows; r++)
        for (int i = m.start[r]; i < m.start[r + 1]; i++) {
            want[r] += m.value[i] * x[m.column[i]];
            ell_column[(size_t)(i - m.start[r]) * rows + r] = m.column[i];
            ell_value[(size_t)(i - m.start[r]) * rows + r] = m.value[i];
        }

    const int block = 96;
    double *d_x = to_device(x), *y = device_new<double>(rows), *d_value = to_device(m.value);
    int *start = to_device(m.start), *column = to_device(m.column);
    csr_scalar<<<blocks_for(rows, block), block>>>(start, column, d_value, d_x, y, rows);
    expect_near("CSR, thread per row", from_device(y, rows), want, 1e-12);
    csr_vector<<<blocks_for((size_t)rows * 32, block), block>>>(start, column, d_value, d_x, y, rows);
    expect_near("CSR, warp per row", from_device(y, rows), want, 1e-12);
    ell<<<blocks_for(rows, block), block>>>(to_device(ell_column), to_device(ell_value), width, d_x, y, rows);
    expect_near("ELL", from_device(y, rows), want, 1e-12);
    CHECK(cudaMemset(y, 0, rows * sizeof *y));
    coo<<<7, block>>>(to_device(row_of), column, d_value, (int)m.value.size(), d_x, y);
    expect_near("COO", from_device(y, rows), want, 1e-12);
    finish_launches();
    return finish();
}
