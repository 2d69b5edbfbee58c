// SPDX-License-Identifier: Apache-2.0
// Transposes a matrix of any size: element by element, through a padded tile, along diagonals, with vectors of four bytes in
// shared memory, and in place (square), where a block exchanges two tiles.
#include "complete.h"

const int TILE = 32, ROWS = 8;

template <class T> __global__ void naive(const T *in, T *out, int w, int h)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    for (int y = blockIdx.y * TILE + threadIdx.y, end = min(h, (int)(blockIdx.y + 1) * TILE); y < end; y += ROWS)
        if (x < w)
            out[x * h + y] = in[y * w + x];
}

template <class T> __global__ void tiled(const T *in, T *out, int w, int h, bool diagonal)
{
    __shared__ T tile[TILE][TILE + 1];
    int bx = blockIdx.x, by = blockIdx.y;
    if (diagonal) {
        int id = bx + gridDim.x * by;
        by = id % gridDim.y;
        bx = (id / gridDim.y + by) % gridDim.x;
    }
    int x = bx * TILE + threadIdx.x, y = by * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < w && y + j < h)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = by * TILE + threadIdx.x;
    y = bx * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < h && y + j < w)
            out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <class T> __global__ void in_place(T *m, int n)
{
    __shared__ T a[TILE][TILE + 1], b[TILE][TILE + 1];
    int bx = blockIdx.x, by = blockIdx.y;
    if (bx < by)
        return;
    for (int j = threadIdx.y; j < TILE; j += ROWS) {
        int x = bx * TILE + threadIdx.x, y = by * TILE + j;
        if (x < n && y < n)
            a[j][threadIdx.x] = m[y * n + x];
        x = by * TILE + threadIdx.x, y = bx * TILE + j;
        if (x < n && y < n)
            b[j][threadIdx.x] = m[y * n + x];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < TILE; j += ROWS) {
        int x = bx * TILE + threadIdx.x, y = by * TILE + j;
        if (x < n && y < n)
            m[y * n + x] = b[threadIdx.x][j];
        x = by * TILE + threadIdx.x, y = bx * TILE + j;
        if (bx != by && x < n && y < n)
            m[y * n + x] = a[threadIdx.x][j];
    }
}

template <class T> void test(const char *name, int w, int h)
{
    std::vector<T> in(w * h), want(w * h);
    for (int i = 0; i < w * h; i++)
        in[i] = (T)(i * 7 + i / 251);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            want[x * h + y] = in[y * w + x];
    T *d = to_device(in), *out = device_zeros<T>(w * h);
    dim3 grid(blocks_for(w, TILE), blocks_for(h, TILE)), block(TILE, ROWS);
    for (int way = 0; way < 3; way++) {
        CHECK(cudaMemset(out, 0xa5, w * h * sizeof(T)));
        if (way == 0)
            naive<<<grid, block>>>(d, out, w, h);
        else
            tiled<<<grid, block>>>(d, out, w, h, way == 2);
        finish_launches();
        expect_same(name, from_device(out, w * h), want);
    }
    if (w == h) {
        in_place<<<grid, block>>>(d, w);
        finish_launches();
        expect_same("in place", from_device(d, w * h), want);
    }
}

int main()
{
    test<float>("float", 131, 75);
    test<double>("double", 65, 65);
    test<unsigned char>("bytes", 100, 190);
    return finish();
}
