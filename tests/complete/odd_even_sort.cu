// SPDX-License-Identifier: Apache-2.0
// Odd-even transposition sort in two forms: one kernel per phase over global memory, and whole rows of a matrix at once,
// a block per row, in dynamic shared memory. 16-bit keys.
#include "complete.h"
#include <algorithm>

__global__ void phase(short *x, int n, int odd)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + odd;
    if (i + 1 < n && x[i] > x[i + 1]) {
        short t = x[i];
        x[i] = x[i + 1];
        x[i + 1] = t;
    }
}

__global__ void sort_rows(short *x, int width)
{
    extern __shared__ short row[];
    short *mine = x + (size_t)blockIdx.x * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        row[i] = mine[i];
    __syncthreads();
    for (int step = 0; step < width; step++) {
        for (int i = 2 * threadIdx.x + step % 2; i + 1 < width; i += 2 * blockDim.x) {
            short a = row[i], b = row[i + 1];
            row[i] = min(a, b);
            row[i + 1] = max(a, b);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        mine[i] = row[i];
}

int main()
{
    const int n = 333, rows = 13, width = 157;
    Random random(7);
    std::vector<short> x(n), m(rows * width);
    for (auto &e : x)
        e = (short)random.next();
    for (auto &e : m)
        e = (short)random.next();
    short *d_x = to_device(x), *d_m = to_device(m);
    for (int p = 0; p < n; p++)
        phase<<<blocks_for(n / 2, 64), 64>>>(d_x, n, p % 2);
    sort_rows<<<rows, 70, width * sizeof(short)>>>(d_m, width);
    finish_launches();
    std::sort(x.begin(), x.end());
    for (int r = 0; r < rows; r++)
        std::sort(m.begin() + r * width, m.begin() + (r + 1) * width);
    expect_same("array", from_device(d_x, n), x);
    expect_same("rows", from_device(d_m, m.size()), m);
    return finish();
}
